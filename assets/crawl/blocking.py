"""Work beside a walk: it holds nobody up, and is never left behind when the walk is cancelled."""

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


async def in_thread(function: Callable[Arguments, Answer], *args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
    """Run a function that blocks in a thread; when the caller is cancelled, the function ends first.

    A thread cannot be stopped: one that was left behind would still write to a site whose lease is given back.
    """
    return await to_its_end(asyncio.ensure_future(asyncio.to_thread(function, *args, **kwargs)))


async def to_its_end(work: asyncio.Future[Answer]) -> Answer:
    """Await work that a cancellation of the caller does not reach: it ends before the cancellation goes on."""
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        await asyncio.wait([work])
        raise
