"""The publisher's sitemaps: bytes into addresses, which file is asked next, and when one is not worth asking any more.

Knows XML, index, RSS, Atom, RDF and plain lines, each also gzipped. Pure: fetching and storing are the crawl room's.
"""
