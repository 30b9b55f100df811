"""Behaviour of blocking work in a walk that is cancelled."""

import asyncio
import threading

import pytest

from assets.crawl.blocking import in_thread


def test_a_cancelled_caller_waits_for_what_it_has_begun() -> None:
    begun, may_end, order = threading.Event(), threading.Event(), list[str]()

    def write() -> None:
        begun.set()
        may_end.wait(10)
        order.append("written")

    async def walk() -> None:
        try:
            await in_thread(write)
        finally:
            order.append("lease given back")

    async def run() -> None:
        task = asyncio.create_task(walk())
        await asyncio.to_thread(begun.wait, 10)
        task.cancel()
        await asyncio.sleep(0)
        assert order == []
        may_end.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    assert order == ["written", "lease given back"]


def test_what_the_function_gives_or_raises_comes_through() -> None:
    assert asyncio.run(in_thread(divmod, 7, 2)) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        asyncio.run(in_thread(divmod, 7, 0))
