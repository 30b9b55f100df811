"""The fetch room: what is asked when, and what an answer means.

Tables in: ``frontier``, ``robots``, ``fetches`` (stored copies). Tables out: ``fetches``, ``robots``, WARC batches.
Decides: the order of requests over all hosts, politeness, retries, redirects hop by hop, outcomes.
Never does: ask anything. The crawl room carries the decisions out through the ``Fetcher`` port.
"""
