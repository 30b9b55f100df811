"""The seeds room: may a crawl start here, and which sitemaps does the site publish.

Tables in: ``fetches`` of the seed layer, ``robots``. Tables out: ``seeds``, ``sitemap_files``, ``sitemap_entries``.
Decides: which seeds a site has, which of them are usable; which sitemaps are asked, which of their entries count, and
whether their dates can be trusted. Never does: fetch.
"""
