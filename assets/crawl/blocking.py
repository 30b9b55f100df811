"""Blocking work of a walk: it runs in a thread, so that it holds nobody up, and is never left behind."""

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


async def in_thread(function: Callable[Arguments, Answer], *args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
    """Run a function in a thread; when the caller is cancelled, the function ends before the cancellation goes on.

    A thread cannot be stopped: one that was left behind would still write to a site whose lease is given back.
    """
    work = asyncio.ensure_future(asyncio.to_thread(function, *args, **kwargs))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        await asyncio.wait([work])
        raise
