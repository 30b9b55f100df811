"""A bridge from an async walk to Dagster's plain generators: the walk runs in a thread with an event loop of its own.

Dagster would advance an async generator only while it asks for the next event, and an interrupt would break into the
middle of its loop. Here the walk goes on while Dagster writes events down, and an interrupt cancels it in good order.
"""

import asyncio
import contextlib
import queue
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

Event = TypeVar("Event")


@dataclass(frozen=True, slots=True)
class _Said(Generic[Event]):
    event: Event


@dataclass(frozen=True, slots=True)
class _Ended:
    error: BaseException | None


def in_background(walk: Callable[[], AsyncIterator[Event]]) -> Iterator[Event]:
    """Give what an async iterator gives, while it runs in a thread of its own.

    When this generator is closed early or an exception breaks into it, the walk is cancelled and awaited: its
    ``finally`` blocks have run before the exception goes on.

    Raises:
        BaseException: what the walk raised.
    """
    said: queue.Queue[_Said[Event] | _Ended] = queue.Queue()
    loop = asyncio.new_event_loop()

    async def drain() -> None:
        async for event in walk():
            said.put(_Said(event))

    task = loop.create_task(drain())

    def run() -> None:
        error: BaseException | None = None
        try:
            loop.run_until_complete(task)
        except BaseException as raised:  # noqa: BLE001 - handed over to the thread that asked
            error = raised
        finally:
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.run_until_complete(loop.shutdown_default_executor())
            loop.close()
            said.put(_Ended(error))

    thread = threading.Thread(target=run, name="crawl", daemon=True)
    thread.start()
    ended = False
    try:
        while True:
            item = said.get()
            if isinstance(item, _Ended):
                ended = True
                if item.error is not None:
                    raise item.error
                return
            yield item.event
    finally:
        if not ended:
            # The walk may have ended by itself and closed its loop in this very moment.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(task.cancel)
        thread.join()
