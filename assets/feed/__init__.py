"""The index feed: what a search index must hold, told as numbered differences.

Tables in: ``page_state``, ``pages``, ``exact_duplicates``, ``near_duplicates``, ``fetches``, ``links``. Out: batch
objects under ``names.feed_prefix(site)`` and ``names.chunks_prefix(site)``; ``feed_state`` and ``chunk_state``, which
only remember what they add up to.

Decides: which pages are documents, what their documents say, and what changed since the last batch. Replaying a site's
batches in order gives exactly the wanted documents. Never edits a batch that was written; never talks to an index
but through the ``IndexSink`` port.
"""
