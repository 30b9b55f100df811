"""The frontier room: which addresses are fetched at a depth, in which order, and which are refused and why.

Tables in: ``links`` and ``sitemap_entries`` of the layer before, ``seeds``, what this crawl knows already.
Tables out: ``frontier``, ``refusals``. Decides: scope, traps, budgets, priority. Never does: fetch.
"""
