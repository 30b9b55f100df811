"""Link readers: the threads of a run that have pages parsed while others are fetched, for all its sites."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa

from assets.links.chunk import LinkChunk, read_chunk, rows_of
from resources.ports import DocumentWorkers, WorkFailure


class LinkReaders:
    """Threads that wait for the workers, for all sites of a run. Each keeps one worker process busy."""

    def __init__(self, workers: DocumentWorkers, *, threads: int = 4) -> None:
        self._workers = workers
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="links")
        self.held_bytes = 0  # of records whose rows nobody has taken yet, and of those rows

    async def read(self, chunk: LinkChunk) -> pa.Table | None:
        """Parse a chunk; None when it cost its worker. Its rows count as held from now on."""
        rows = await asyncio.get_running_loop().run_in_executor(self._pool, self._read, chunk)
        self.held_bytes += rows.nbytes if rows is not None else 0
        return rows

    def close(self) -> None:
        """Take no more, drop what waits, and wait for what is being read: it would start the workers again."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _read(self, chunk: LinkChunk) -> pa.Table | None:
        (found,) = self._workers.map(read_chunk, [chunk])
        return None if isinstance(found, WorkFailure) else rows_of(found)
