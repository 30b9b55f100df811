"""Looked-up addresses, kept per host for a while. Whether an address may be asked is the address guard's to say."""

import socket
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from resources.guarded_http import Resolve, is_unknown_name
from resources.ports.clock import Clock

MAX_HOSTS: Final = 10_000  # kept at once; beyond that the ones that run out first are dropped


@dataclass(slots=True)
class _Answer:
    """What the last look-up of a host said, and until when that holds."""

    addresses: Sequence[str]
    error: socket.gaierror | None
    until_s: float

    def give(self) -> Sequence[str]:
        if self.error is not None:
            # A new one each time: one that is raised in many threads gathers all their tracebacks.
            raise socket.gaierror(*self.error.args)
        return self.addresses


@dataclass(slots=True)
class _LookUp:
    """A look-up under way; those who want the same host wait for it and take what it brings."""

    done: threading.Event = field(default_factory=threading.Event)
    answer: _Answer | None = None


class CachedResolver:
    """A ``Resolve`` in front of another. Thread-safe; one look-up at a time per host, other hosts do not wait for it.

    That a name does not exist is kept for a short time. That the resolver did not answer (SERVFAIL, EAI_AGAIN) is
    told to all who waited for that look-up and not kept: the fetch plan's next try is to ask again.
    """

    def __init__(self, resolve: Resolve, clock: Clock, *, keeps_s: float = 300, negative_s: float = 30) -> None:
        self._resolve = resolve
        self._clock = clock
        self._keeps_s = keeps_s
        self._negative_s = negative_s
        self._lock = threading.Lock()
        self._answers: dict[str, _Answer] = {}
        self._under_way: dict[str, _LookUp] = {}

    def __call__(self, host: str) -> Sequence[str]:
        """Give the addresses of a host, from the cache while they hold.

        Raises:
            socket.gaierror: the name has no address, or the resolver did not answer.
        """
        name = host.lower()
        while True:
            with self._lock:
                kept = self._answers.get(name)
                if kept is not None and self._clock.monotonic_s() < kept.until_s:
                    return kept.give()
                look_up = self._under_way.get(name)
                is_ours = look_up is None
                if look_up is None:
                    look_up = self._under_way[name] = _LookUp()
            if is_ours:
                return self._look_up(name, look_up)
            look_up.done.wait()
            if look_up.answer is not None:
                return look_up.answer.give()
            # The one who looked up met something that is no answer; that is theirs, and this one asks anew.

    def _look_up(self, name: str, look_up: _LookUp) -> Sequence[str]:
        try:
            answer = look_up.answer = self._asked(name)
        finally:
            with self._lock:
                del self._under_way[name]
                if look_up.answer is not None:
                    self._keep(name, look_up.answer)
            look_up.done.set()
        return answer.give()

    def _asked(self, name: str) -> _Answer:
        try:
            addresses = tuple(self._resolve(name))
        except socket.gaierror as error:
            keeps_s = self._negative_s if is_unknown_name(error) else 0.0
            return _Answer((), error, self._clock.monotonic_s() + keeps_s)
        keeps_s = self._keeps_s if addresses else self._negative_s
        return _Answer(addresses, None, self._clock.monotonic_s() + keeps_s)

    def _keep(self, name: str, answer: _Answer) -> None:
        now_s = self._clock.monotonic_s()
        self._answers.pop(name, None)
        if answer.until_s <= now_s:
            return
        if len(self._answers) >= MAX_HOSTS:
            by_end = sorted(self._answers.items(), key=lambda entry: entry[1].until_s)
            # A tenth more than needed, so that this is not done for each new host.
            self._answers = {host: kept for host, kept in by_end[MAX_HOSTS // 10 :] if kept.until_s > now_s}
        self._answers[name] = answer
