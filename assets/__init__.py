"""What Isobath knows: one package a room, in the order in which data walks through them.

seeds, frontier, fetch, links are composed by ``crawl``; extract, dedup, feed, site_map follow.
Ground floor, usable by all: ``url``, ``markup``, ``warc``, ``schemas``, ``partitions``, ``names``.
"""
