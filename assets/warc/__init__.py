"""WARC files: written, verified, read and indexed.

Ground floor: the crawl writes them, links and extract read them. What goes into a record stands here; which
capture is worth one is decided in ``fetch``.
"""
