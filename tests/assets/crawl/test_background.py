import asyncio
import threading
from collections.abc import AsyncIterator

import pytest

from assets.crawl.background import Background


async def counting(limit: int) -> AsyncIterator[int]:
    for number in range(limit):
        await asyncio.sleep(0)
        yield number


def test_what_the_walk_gives_comes_in_order() -> None:
    assert list(Background().run(lambda: counting(100))) == list(range(100))


def test_the_walk_runs_in_a_thread_of_its_own() -> None:
    async def where() -> AsyncIterator[int]:
        yield threading.get_ident()

    assert list(Background().run(where)) != [threading.get_ident()]


def test_closing_a_walk_that_has_ended_by_itself_is_no_error() -> None:
    given = Background().run(lambda: counting(1))
    assert next(given) == 0
    while "crawl" in {thread.name for thread in threading.enumerate()}:
        pass
    given.close()  # type: ignore[attr-defined]


def test_what_the_walk_raises_is_raised_after_what_it_gave() -> None:
    async def failing() -> AsyncIterator[int]:
        yield 1
        raise LookupError("lost")

    given = Background().run(failing)
    assert next(given) == 1
    with pytest.raises(LookupError, match="lost"):
        next(given)


def test_closing_early_cancels_the_walk_and_waits_for_its_end() -> None:
    ended: list[str] = []

    async def endless() -> AsyncIterator[int]:
        try:
            yield 1
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append("in good order")

    given = Background().run(endless)
    assert next(given) == 1
    given.close()  # type: ignore[attr-defined]
    assert ended == ["in good order"]
    assert "crawl" not in {thread.name for thread in threading.enumerate()}


def test_a_walk_whose_events_nobody_takes_any_more_ends_with_its_background() -> None:
    ended: list[str] = []

    async def endless() -> AsyncIterator[int]:
        try:
            yield 1
            await asyncio.Event().wait()
        finally:
            ended.append("in good order")

    background = Background()
    given = background.run(endless)
    assert next(given) == 1
    background.close()
    assert ended == ["in good order"]
    with pytest.raises(asyncio.CancelledError):
        next(given)
