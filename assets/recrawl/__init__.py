"""Recrawl: when each page is worth a visit, and what a budget buys.

Tables in: ``crawls``, ``fetches``, ``pages``, ``sitemap_files``, ``sitemap_entries``, ``frontier`` and ``refusals`` (of
refreshes), ``robots``, ``seeds``, ``site_map`` (links). Tables out: ``page_schedule``, ``site_schedule``, ``pings``.
Most modules know columns of numbers only (``columns``); which row is which URL is known to ``history``, ``folding``,
``rows`` and ``schedule``.

Two halves. ``fold`` turns what was seen, in time order, into state: visits by visits or the whole history at once, the
state comes out the same to the last bit. ``plan`` turns state, settings and a budget into due times, and holds nothing
that could not be made again. So a schedule follows from the immutable facts alone.

Decides: how often a page changes, what a visit to it is worth, when it is due, what a change signal is worth. Never
fetches, never says what a page is (``page_state`` does), never looks at a clock.
"""
