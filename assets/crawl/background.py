"""A bridge from async walks to Dagster's plain generators: a walk runs in a thread with an event loop of its own.

Dagster would advance an async generator only while it asks for the next event, and an interrupt would break into the
middle of its loop. Here the walk goes on while Dagster writes events down, and an interrupt cancels it in good order.
"""

import asyncio
import contextlib
import queue
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

import dagster as dg

Event = TypeVar("Event")
BACKGROUND: Final = "background"


@dataclass(frozen=True, slots=True)
class _Said(Generic[Event]):
    event: Event


@dataclass(frozen=True, slots=True)
class _Ended:
    error: BaseException | None


class Background:
    """The walks of one run. Dagster closes it when the run's steps have ended, in whatever way."""

    def __init__(self) -> None:
        self._walks: list[_Walk[Any]] = []

    def run(self, walk: Callable[[], AsyncIterator[Event]]) -> Iterator[Event]:
        """Give what an async iterator gives, while it runs in a thread of its own.

        When this generator is closed early or an exception breaks into it, the walk is cancelled and awaited: its
        ``finally`` blocks have run before the exception goes on.

        Raises:
            BaseException: what the walk raised.
        """
        begun = _Walk(walk)
        self._walks.append(begun)
        try:
            yield from begun.events()
        finally:
            begun.stop()

    def close(self) -> None:
        """Cancel the walks that still run, and wait for their end.

        An interrupt that comes while Dagster writes an event down is raised where the step's generator does not see
        it, and nobody closes that generator.
        """
        for walk in self._walks:
            walk.stop()


# What a resource needs is closed after it: a walk that is still under way would start the workers again.
@dg.resource(required_resource_keys={"workers"})
def run_background(_: dg.InitResourceContext) -> Iterator[Background]:
    """Own the walks of a run."""
    with contextlib.closing(Background()) as made:
        yield made


class _Walk(Generic[Event]):
    def __init__(self, walk: Callable[[], AsyncIterator[Event]]) -> None:
        self._said: queue.Queue[_Said[Event] | _Ended] = queue.Queue()
        self._loop = asyncio.new_event_loop()
        self._task = self._loop.create_task(self._drain(walk))
        self._thread = threading.Thread(target=self._run, name="crawl", daemon=True)
        self._thread.start()

    def events(self) -> Iterator[Event]:
        while True:
            item = self._said.get()
            if isinstance(item, _Ended):
                if item.error is not None:
                    raise item.error
                return
            yield item.event

    def stop(self) -> None:
        # A walk that has ended has closed its loop.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._task.cancel)
        self._thread.join()

    async def _drain(self, walk: Callable[[], AsyncIterator[Event]]) -> None:
        async for event in walk():
            self._said.put(_Said(event))

    def _run(self) -> None:
        error: BaseException | None = None
        try:
            self._loop.run_until_complete(self._task)
        except BaseException as raised:  # noqa: BLE001 - handed over to the thread that asked
            error = raised
        finally:
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
            self._loop.close()
            self._said.put(_Ended(error))
