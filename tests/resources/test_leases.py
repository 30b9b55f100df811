"""Behaviour of site leases: one holder at a time, whatever happens to it."""

import json
import logging
import threading
from pathlib import Path

import pytest

from resources.errors import SiteBusy, StoreUnusable
from resources.folder_objects import FolderObjects
from resources.ports.leases import SiteLeases
from resources.ports.objects import ObjectStore
from resources.site_leases import SiteLeaseStore
from tests.support.clocks import TurnableClock

SITE = "127.0.0.1:8080"
KEY = f"leases/{SITE}.json"


def test_a_held_site_is_busy_until_it_is_given_back(objects: ObjectStore) -> None:
    clock = TurnableClock()
    leases: SiteLeases = SiteLeaseStore(objects, clock)
    with leases.hold(SITE, "run 1") as lease:
        assert (lease.site, lease.owner) == (SITE, "run 1")
        assert (lease.expires_at - clock.now()).total_seconds() == 120
        clock.advance(33)
        for owner in ("run 1", "run 2"):
            with pytest.raises(SiteBusy, match=rf"Site '{SITE}' is held by 'run 1': .* 87 s"), leases.hold(SITE, owner):
                pytest.fail("two hold it")
        with leases.hold("other.example", "run 2"):
            pass
    with leases.hold(SITE, "run 2") as lease:
        assert lease.owner == "run 2"


def test_who_holds_a_site_can_be_seen_until_it_is_given_back_or_over(objects: ObjectStore) -> None:
    clock = TurnableClock()
    leases: SiteLeases = SiteLeaseStore(objects, clock)
    assert leases.holder(SITE) is None
    with leases.hold(SITE, "run 1") as held:
        seen = leases.holder(SITE)
        assert seen is not None
        assert (seen.site, seen.owner, seen.expires_at) == (SITE, "run 1", held.expires_at)
        clock.advance(119)
        assert leases.holder(SITE) is not None
        clock.advance(1)
        assert leases.holder(SITE) is None
        clock.advance(-1)
    assert leases.holder(SITE) is None


def test_a_lease_is_given_back_when_the_work_fails(objects: ObjectStore) -> None:
    leases = SiteLeaseStore(objects, TurnableClock())
    with pytest.raises(ZeroDivisionError), leases.hold(SITE, "run 1"):
        raise ZeroDivisionError
    with leases.hold(SITE, "run 2"):
        pass


def test_a_lease_that_is_over_is_taken_over_and_not_given_back_by_the_first(
    objects: ObjectStore, caplog: pytest.LogCaptureFixture
) -> None:
    clock = TurnableClock()
    leases = SiteLeaseStore(objects, clock)
    second = leases.hold(SITE, "run 2")
    with caplog.at_level(logging.WARNING), leases.hold(SITE, "run 1") as lease:
        clock.advance(120)
        assert second.__enter__().owner == "run 2"
    assert lease.lost.is_set()
    assert f"The lease of site {SITE} was lost to another run" in caplog.text
    with pytest.raises(SiteBusy, match="run 2"), leases.hold(SITE, "run 3"):
        pytest.fail("two hold it")
    second.__exit__(None, None, None)


def test_one_of_many_takes_a_lease_that_is_over(objects: ObjectStore) -> None:
    clock = TurnableClock()
    leases = SiteLeaseStore(objects, clock)
    with leases.hold(SITE, "run 0"):
        clock.advance(1000)
        start, done = threading.Barrier(6), threading.Barrier(6)
        outcomes: list[str] = []

        def try_it(owner: str) -> None:
            start.wait()
            try:
                with leases.hold(SITE, owner):
                    outcomes.append("held")
                    done.wait()
            except SiteBusy:
                outcomes.append("busy")
                done.wait()

        threads = [threading.Thread(target=try_it, args=(f"run {number}",)) for number in range(1, 7)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(outcomes) == ["busy"] * 5 + ["held"]


def test_the_heartbeat_renews(tmp_path: Path) -> None:
    renewed = threading.Event()

    class Telling(FolderObjects):
        def replace(self, key: str, data: bytes, *, etag: str) -> str | None:
            result = super().replace(key, data, etag=etag)
            if json.loads(data)["expires_at"] > "2030-01-01T00:00:10":
                renewed.set()
            return result

    clock = TurnableClock()
    objects = Telling(tmp_path)
    leases = SiteLeaseStore(objects, clock, duration_s=0.15)
    with leases.hold(SITE, "run 1") as lease:
        clock.advance(10)
        assert renewed.wait(10)
        with pytest.raises(SiteBusy), leases.hold(SITE, "run 2"):
            pytest.fail("two hold it")
    assert not lease.lost.is_set()


def test_the_heartbeat_notices_that_the_lease_was_lost(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    objects = FolderObjects(tmp_path)
    other = json.dumps({"owner": "run 2", "token": "other", "expires_at": "2031-01-01T00:00:00+00:00"}).encode()
    leases = SiteLeaseStore(objects, TurnableClock(), duration_s=0.06)
    with caplog.at_level(logging.WARNING), leases.hold(SITE, "run 1") as lease:
        objects.put(KEY, other)
        assert lease.lost.wait(10)
    assert "was lost to another run" in caplog.text
    assert objects.get(KEY) == other


def test_a_write_whose_answer_was_lost_counts_as_ours(tmp_path: Path) -> None:
    class Forgetful(FolderObjects):
        def create(self, key: str, data: bytes) -> str | None:
            super().create(key, data)
            return None

    objects = Forgetful(tmp_path)
    leases = SiteLeaseStore(objects, TurnableClock())
    with leases.hold(SITE, "run 1") as lease:
        pass
    assert not lease.lost.is_set()


def test_a_lease_that_nobody_can_read_is_not_guessed_at(tmp_path: Path) -> None:
    objects = FolderObjects(tmp_path)
    objects.put(KEY, b"{")
    with (
        pytest.raises(StoreUnusable, match="is not readable"),
        SiteLeaseStore(objects, TurnableClock()).hold(SITE, "a"),
    ):
        pytest.fail("held")


def test_odd_site_names_stay_in_their_folder(objects: ObjectStore) -> None:
    leases = SiteLeaseStore(objects, TurnableClock())
    for site in ("../../etc", "a/b", "bücher.example", "..", "o'neil.org"):
        with leases.hold(site, "run 1"):
            pass
    assert all(info.key.count("/") == 1 for info in objects.list("leases/"))
