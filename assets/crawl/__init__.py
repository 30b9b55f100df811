"""The crawl room: one multi_asset that walks many sites at once, from the seed check to the crawl report.

Composes ``seeds``, ``frontier``, ``fetch`` and ``links``; it alone may import those rooms. Each site is a task that
goes through its stages in order; all tasks share one fetch scheduler, and no site waits for another.

Tables out: ``crawls``, ``seeds``, ``robots``, ``sitemap_files``, ``sitemap_entries``, ``frontier``, ``refusals``,
``fetches``, ``links``.
"""
