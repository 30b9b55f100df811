"""Links: what a fetched page links to, and the facts that the site map shows of it.

Tables in: ``fetches`` and the stored bytes. Tables out: ``links`` (through ``crawl``). It decides what counts as a
hyperlink and what as a resource; it never decides whether a link is followed, and never fetches.
"""
