"""The site map room: the structure of a site, as its last finished crawl saw it, and what is wrong with it.

Tables in: ``crawls``, ``seeds``, ``fetches``, ``frontier``, ``links``, ``sitemap_entries``. Tables out: ``site_map``,
``findings``, and files under ``reports/``.
Decides: which addresses are one page through redirects, depth and parent of each page, what is a finding.
Never does: ask anything, or change what the crawl stored.
"""
