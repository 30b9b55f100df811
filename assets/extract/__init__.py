"""Extract: what a stored page says: its main text, title, dates, language, and what to think of it.

Tables in: ``fetches`` and the stored bodies. Tables out: ``pages`` (a row a page version, appended) and ``page_state``
(which version is current, and whether the page lives). It decides what is main text and what is gone; it never fetches,
and never compares pages with each other.
"""
