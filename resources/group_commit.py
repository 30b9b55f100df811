"""Group commit: appends to one table that wait for each other become one commit.

A commit costs much the same for one site as for fifty, and a run of two hundred sites makes thousands of them.
"""

import copy
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa


@dataclass(slots=True)
class _Waiting:
    rows: pa.Table
    is_done: bool = False
    error: BaseException | None = None


class GroupCommit:
    """Appends to one table. Thread-safe; whoever returns from ``append`` has its rows committed."""

    def __init__(self, commit: Callable[[pa.Table], None]) -> None:
        self._commit = commit
        self._waiting: list[_Waiting] = []
        self._turn = threading.Lock()  # held by the one who commits
        self._queue = threading.Lock()

    def append(self, rows: pa.Table) -> None:
        """Commit rows, together with those of all who wait.

        Raises:
            Exception: what the commit raised, to all whose rows were in it.
        """
        own = _Waiting(rows)
        with self._queue:
            self._waiting.append(own)
        with self._turn:
            if not own.is_done:
                with self._queue:
                    group, self._waiting = self._waiting, []
                self._commit_all(group)
        if own.error is not None:
            # A copy: one that is raised in many threads gathers all their tracebacks.
            raise copy.copy(own.error) from own.error

    def _commit_all(self, group: Sequence[_Waiting]) -> None:
        error: BaseException | None = None
        try:
            self._commit(pa.concat_tables([waiting.rows for waiting in group]))
        except BaseException as raised:  # noqa: BLE001 - raised again in each of them
            error = raised
        for waiting in group:
            waiting.error, waiting.is_done = error, True
