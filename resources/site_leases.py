"""Site leases in the object store: one small object a site says who works on it, and until when."""

import contextlib
import json
import logging
import threading
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import quote

from resources.errors import IsobathError, ObjectMissing, SiteBusy, StoreUnusable
from resources.ports.clock import Clock
from resources.ports.leases import Lease
from resources.ports.objects import ObjectStore

_log = logging.getLogger(__name__)
_TAKE_TRIES = 10


@dataclass(frozen=True, slots=True)
class HeldLease(Lease):
    """A lease in our hands; ``expires_at`` is that of the start, ``lost`` is set once another owner has taken over."""

    lost: threading.Event


@dataclass(frozen=True, slots=True)
class _Entry:
    """What a lease object says. ``token`` tells two holds of one owner apart."""

    owner: str
    token: str
    expires_at: datetime

    def encode(self) -> bytes:
        """Write as JSON."""
        fields = {"owner": self.owner, "token": self.token, "expires_at": self.expires_at.isoformat()}
        return json.dumps(fields).encode()


class SiteLeaseStore:
    """Leases kept by conditional writes. Clocks of all machines must agree to well within ``duration_s``.

    A run that is killed keeps its sites busy for at most ``duration_s``.
    """

    def __init__(self, objects: ObjectStore, clock: Clock, *, duration_s: float = 120) -> None:
        if duration_s <= 0:
            raise ValueError(f"duration_s must be positive, got {duration_s}")
        self._objects = objects
        self._clock = clock
        self._duration_s = duration_s

    @contextlib.contextmanager
    def hold(self, site: str, owner: str) -> Iterator[HeldLease]:
        """Take the lease, keep it alive by a heartbeat inside the ``with``, and give it back at its end.

        A lease that was lost to another owner does not raise: its ``lost`` flag is set and a warning logged.

        Raises:
            SiteBusy: another owner holds it; the message names the owner and the time left.
        """
        hold = _Hold(self._objects, self._clock, self._duration_s, site, owner)
        lease = hold.take()
        over = threading.Event()
        heartbeat = threading.Thread(target=hold.beat, args=(over,), name=f"lease of {site}", daemon=True)
        heartbeat.start()
        try:
            yield lease
        finally:
            over.set()
            heartbeat.join()
            hold.release()

    def holder(self, site: str) -> Lease | None:
        """Give the lease that somebody holds now; None when nobody does, or its time is over."""
        try:
            entry, _ = _read(self._objects, _key(site))
        except ObjectMissing:
            return None
        return Lease(site, entry.owner, entry.expires_at) if entry.expires_at > self._clock.now() else None


class _Hold:
    """One hold of one site, from taking it to giving it back."""

    def __init__(self, objects: ObjectStore, clock: Clock, duration_s: float, site: str, owner: str) -> None:
        self._objects = objects
        self._clock = clock
        self._duration_s = duration_s
        self._site = site
        self._owner = owner
        self._token = uuid.uuid4().hex
        self._key = _key(site)
        self._etag = ""
        self._lost = threading.Event()

    def take(self) -> HeldLease:
        """Take a lease that is free or over.

        Raises:
            SiteBusy: another hold is alive.
        """
        for _ in range(_TAKE_TRIES):
            entry = self._entry(self._duration_s)
            etag = self._objects.create(self._key, entry.encode())
            if etag is None:
                try:
                    found, etag_found = _read(self._objects, self._key)
                except ObjectMissing:
                    continue
                left_s = (found.expires_at - self._clock.now()).total_seconds()
                if found.token == self._token:
                    etag = etag_found  # our write arrived, its answer did not
                elif left_s > 0:
                    raise SiteBusy(
                        f"Site '{self._site}' is held by '{found.owner}': its lease runs for another {left_s:.0f} s, "
                        "and longer if that run is alive; try again later."
                    )
                else:
                    etag = self._objects.replace(self._key, entry.encode(), etag=etag_found)
            if etag is not None:
                self._etag = etag
                return HeldLease(self._site, self._owner, entry.expires_at, self._lost)
        raise SiteBusy(f"Site '{self._site}' is wanted by other runs, which won {_TAKE_TRIES} races; try again later.")

    def beat(self, over: threading.Event) -> None:
        """Renew the lease three times per duration until it is over or lost."""
        while not over.wait(self._duration_s / 3) and not self._lost.is_set():
            try:
                self._write(self._duration_s)
            except IsobathError as error:
                _log.warning("The lease of site %s was not renewed, trying again: %s", self._site, error)

    def release(self) -> None:
        """Give the lease back by ending it now; whatever prevents that is logged, as the work itself is done."""
        try:
            if not self._lost.is_set():
                self._write(0)
        except IsobathError as error:
            _log.warning(
                "The lease of site %s was not given back, it runs out in %.0f s: %s",
                self._site,
                self._duration_s,
                error,
            )
        if self._lost.is_set():
            _log.warning("The lease of site %s was lost to another run before the work ended", self._site)

    def _entry(self, duration_s: float) -> _Entry:
        return _Entry(self._owner, self._token, self._clock.now() + timedelta(seconds=duration_s))

    def _write(self, duration_s: float) -> None:
        """Let the lease end ``duration_s`` from now, if it is still ours."""
        data = self._entry(duration_s).encode()
        etag = self._objects.replace(self._key, data, etag=self._etag)
        if etag is None:
            # Either another run took it, or an earlier write of ours arrived and its answer did not.
            try:
                found, etag_found = _read(self._objects, self._key)
            except ObjectMissing:
                found = None
            if found is not None and found.token == self._token:
                etag = self._objects.replace(self._key, data, etag=etag_found)
        if etag is None:
            self._lost.set()
        else:
            self._etag = etag


def _key(site: str) -> str:
    return f"leases/{quote(site, safe=':')}.json"


def _read(objects: ObjectStore, key: str) -> tuple[_Entry, str]:
    data, etag = objects.get_tagged(key)
    try:
        fields = json.loads(data)
        entry = _Entry(str(fields["owner"]), str(fields["token"]), datetime.fromisoformat(fields["expires_at"]))
        if entry.expires_at.tzinfo is None:
            raise ValueError("expires_at has no time zone")
    except (ValueError, TypeError, KeyError) as error:
        raise StoreUnusable(
            f"The lease {objects.location(key)} is not readable ({error}): remove it if no run works on this site."
        ) from error
    return entry, etag
