"""Document workers: processes that run a function of one document under a time and a memory limit.

What is done with a document does not belong here, nor what happens inside a process (``worker_process``). The pool is
pebble's; this module adds the bounded window and the recovery from a pool that broke.
"""

import atexit
import os
import pickle
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Final, TypeVar, cast

from pebble import ProcessExpired, ProcessPool

from resources.ports.workers import WorkFailure, WorkFailureReason
from resources.worker_process import Reply, WorkerContext, run_job, start_process

Document = TypeVar("Document")
Result = TypeVar("Result")

TASKS_PER_PROCESS: Final = 500  # then the process is replaced, which bounds what C libraries leak
WINDOW_PER_PROCESS: Final = 8
WINDOW_BYTES: Final = 64 * 1024 * 1024
TRIES: Final = 3  # a pool that broke does not say which document broke it
ALARM_GRACE_S: Final = 10.0


@dataclass(slots=True)
class _Flight:
    """A document on its way, kept whole so that it can be sent again."""

    job: bytes  # pickled function and document
    pool: ProcessPool
    future: Future[Reply]
    tries: int = 1


class ProcessWorkers:
    """A pool of worker processes that starts when it is first needed, as the ``DocumentWorkers`` port.

    The processes are forked from a server that has imported ``preload``, where the platform has one; they inherit no
    threads and locks of this process.
    """

    def __init__(
        self,
        processes: int | None = None,
        *,
        timeout_s: float = 20,
        memory_bytes: int = 2 * 1024**3,
        preload: Sequence[str] = (),
    ) -> None:
        """Set the limits of each document.

        Args:
            processes: worker processes; None takes one a core.
            timeout_s: wall time that a document may take.
            memory_bytes: address space that a document may add to what its process has.
            preload: modules that the functions need, imported once for all processes.
        """
        if (processes is not None and processes < 1) or timeout_s <= 0 or memory_bytes < 1:
            raise ValueError(f"limits must be positive: {processes=} {timeout_s=} {memory_bytes=}")
        self._processes = processes or os.cpu_count() or 1
        self._timeout_s = timeout_s
        self._memory_bytes = memory_bytes
        self._preload = ["pebble.pool.process", "resources.worker_process", *preload]
        self._pool: ProcessPool | None = None
        self._closings = 0
        self._lock = threading.Lock()

    def map(
        self, function: Callable[[Document], Result], documents: Iterable[Document]
    ) -> Iterator[Result | WorkFailure]:
        """Run a function over documents in the processes; give the results in the documents' order.

        Nothing runs before the first result is asked for. Threads that map at the same time share the processes.

        Raises:
            RuntimeError: ``close`` was called while documents were in flight.
        """
        closings = self._closings
        window: deque[_Flight] = deque()
        window_bytes = 0
        for document in documents:
            job = pickle.dumps((function, document), protocol=pickle.HIGHEST_PROTOCOL)
            while window and (
                len(window) >= WINDOW_PER_PROCESS * self._processes or window_bytes + len(job) > WINDOW_BYTES
            ):
                flight = window.popleft()
                window_bytes -= len(flight.job)
                yield cast(Result | WorkFailure, self._landed(flight, closings))
            pool, future = self._send(job, closings)
            window.append(_Flight(job, pool, future))
            window_bytes += len(job)
        while window:
            yield cast(Result | WorkFailure, self._landed(window.popleft(), closings))

    def close(self) -> None:
        """Stop the processes; a later ``map`` starts new ones."""
        with self._lock:
            pool, self._pool = self._pool, None
            self._closings += 1
            if pool is not None:
                _stop(pool)
        atexit.unregister(self.close)

    def _send(self, job: bytes, closings: int) -> tuple[ProcessPool, Future[Reply]]:
        """Give a job to a pool that lives, after replacing one that broke."""
        with self._lock:
            if closings != self._closings:
                raise RuntimeError("the document workers were closed while documents were in flight")
            if self._pool is not None and not self._pool.active:
                _stop(self._pool)
                self._pool = None
            if self._pool is None:
                self._pool = self._new_pool()
                # pebble's own exit code may start a process after it has stopped all, and Python waits for that one.
                atexit.unregister(self.close)
                atexit.register(self.close)
            limits = (self._memory_bytes, self._timeout_s + ALARM_GRACE_S)
            return self._pool, self._pool.schedule(run_job, args=(job, *limits), timeout=self._timeout_s)

    def _new_pool(self) -> ProcessPool:
        context = WorkerContext()
        if sys.platform != "win32":
            context.set_forkserver_preload(self._preload)
        return ProcessPool(self._processes, max_tasks=TASKS_PER_PROCESS, initializer=start_process, context=context)

    def _landed(self, flight: _Flight, closings: int) -> object:
        """Wait for a document; send it again when the pool broke under it."""
        while True:
            # pebble forgets the futures that were queued when a pool broke or was stopped: never wait without end.
            while not wait([flight.future], timeout=1.0).done and flight.pool.active:
                pass
            outcome = self._outcome(flight.future) if flight.future.done() else None
            if outcome is not None:
                return outcome.value
            if flight.tries >= TRIES:
                return WorkFailure(WorkFailureReason.CRASH, f"worker processes died {TRIES} times")
            flight.pool, flight.future = self._send(flight.job, closings)
            flight.tries += 1

    def _outcome(self, future: Future[Reply]) -> "_Outcome | None":
        """Say what became of a document; None when that is the pool's fault.

        Raises:
            Exception: what the function raised.
        """
        try:
            error = future.exception()
        except CancelledError:
            return None
        if isinstance(error, BrokenProcessPool):
            return None
        if isinstance(error, TimeoutError):
            return _Outcome(WorkFailure(WorkFailureReason.TIMEOUT, f"took longer than {self._timeout_s:g} s"))
        if isinstance(error, ProcessExpired):
            return _Outcome(WorkFailure(WorkFailureReason.CRASH, f"the worker process ended with {error.exitcode}"))
        if error is not None:
            raise error
        reply = future.result()
        if reply.error is not None:
            raise reply.error
        if reply.result is None:
            return _Outcome(WorkFailure(WorkFailureReason.MEMORY, f"needed more than {self._memory_bytes:,} bytes"))
        return _Outcome(pickle.loads(reply.result))


@dataclass(frozen=True, slots=True)
class _Outcome:
    """A wrapper that keeps a result of None apart from no result."""

    value: object


def _stop(pool: ProcessPool) -> None:
    pool.stop()  # type: ignore[no-untyped-call]
    pool.join()
