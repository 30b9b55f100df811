"""The site map room: the structure of a site, as a finished crawl saw it, what is wrong with it, and what changed.

Tables in: ``crawls``, ``seeds``, ``fetches``, ``frontier``, ``links``, ``sitemap_entries``, and for what is said of
texts ``pages``, ``page_state``, ``exact_duplicates``, ``near_duplicates``. Tables out: ``site_map``, ``findings``,
``map_resources``, ``map_redirects``, ``map_sections``, ``map_history``, ``map_changes``, and files under ``reports/``.
Decides: which addresses are one page through redirects, depth, parent and rank of each page, what is a finding, what
counts as moved or changed between two crawls.
Never does: ask anything, or change what the crawl stored.
"""
