"""A crawl that is killed in the middle loses only the batch that was open."""

import os
import signal
import subprocess
import sys
import time
from io import BytesIO
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from assets import names
from resources.ports import ObjectStore, TableStore
from tests.support.loopback import LoopbackSite, Page
from tests.support.s3 import StoreKind, make_store

pytestmark = pytest.mark.slow

PAGES = 60
GIVE_UP_S = 120.0


def wide_site() -> dict[str, Page]:
    links = "".join(f'<a href="/p{n}">page {n}</a> ' for n in range(PAGES))
    filler = "The tide table of the harbour says nothing about this. " * 20
    pages = {f"/p{n}": Page(f"<title>Page {n}</title><p>This is page number {n}. {filler}") for n in range(PAGES)}
    return {"/": Page(f"<title>Wide</title>{links}"), **pages}


def start(site: LoopbackSite, store: str, folder: Path, *, lease_s: int = 1) -> subprocess.Popen[bytes]:
    (folder / "sites.yaml").write_text(
        f"sites:\n  '{site.host}':\n    min_delay_s: 0\n    allow_private_networks: true\n"
        f"    seeds: ['{site.url('/')}']\n    batch_max_bytes: 6000\n"
    )
    home = folder / "dagster_home"
    home.mkdir(exist_ok=True)
    environment = {
        **os.environ,
        "DAGSTER_HOME": str(home),
        "ISOBATH_STORE": store,
        "ISOBATH_SITES": str(folder / "sites.yaml"),
        "ISOBATH_LEASE_S": str(lease_s),
        "ISOBATH_INDEX": str(folder / "index"),
        "ISOBATH_WORKERS": "1",
    }
    command = [sys.executable, "-m", "pipelines", "crawl", site.url("/"), "--max-depth", "1"]
    with (folder / "log.txt").open("ab") as log:
        return subprocess.Popen(command, env=environment, stdout=log, stderr=log)


def published_paths(objects: ObjectStore, site: LoopbackSite) -> set[str]:
    found = set()
    for stored in objects.list(f"raw/site={site.host}/"):
        if stored.key.endswith(".warc.gz"):
            for record in ArchiveIterator(BytesIO(objects.get(stored.key))):
                if record.rec_type in ("response", "revisit"):
                    found.add(record.rec_headers.get_header("WARC-Target-URI").removeprefix(site.url("")))
    return found


def signal_after(process: subprocess.Popen[bytes], site: LoopbackSite, requests: int, number: int) -> None:
    deadline = time.monotonic() + GIVE_UP_S
    while len(site.requests) < requests and process.poll() is None and time.monotonic() < deadline:
        pass
    os.kill(process.pid, number)
    process.wait(GIVE_UP_S)


@pytest.mark.parametrize("after_requests", [12, 35])
def test_a_killed_crawl_carries_on_without_asking_twice(
    store_kind: StoreKind, tmp_path: Path, after_requests: int
) -> None:
    objects, tables, url = make_store(store_kind, tmp_path)
    with LoopbackSite(wide_site()) as site:
        deadline = time.monotonic() + GIVE_UP_S
        process = start(site, url, tmp_path)
        signal_after(process, site, after_requests, signal.SIGKILL)
        published = published_paths(objects, site)
        assert 0 < len(published) < PAGES
        asked_before = len(site.requests)

        while time.monotonic() < deadline:
            process = start(site, url, tmp_path)
            if process.wait(GIVE_UP_S) == 0:
                break
        log = (tmp_path / "log.txt").read_text()
        assert process.returncode == 0, log
        asked_again = set(site.paths_seen()[asked_before:])
    assert not asked_again & published, log
    check_whole(tables, site)


def test_an_interrupted_crawl_keeps_all_that_it_fetched_and_frees_its_site(tmp_path: Path) -> None:
    _, tables, url = make_store("folder", tmp_path)
    with LoopbackSite(wide_site()) as site:
        process = start(site, url, tmp_path, lease_s=600)
        signal_after(process, site, 20, signal.SIGINT)
        log = (tmp_path / "log.txt").read_text()
        assert process.returncode == 130, log
        assert "carries on" in log
        process = start(site, url, tmp_path, lease_s=600)
        assert process.wait(GIVE_UP_S) == 0, (tmp_path / "log.txt").read_text()
        paths = site.paths_seen()
    # At most the request that was open when the signal came is asked again.
    assert len(paths) - len(set(paths)) <= 1
    check_whole(tables, site)


def check_whole(tables: TableStore, site: LoopbackSite) -> None:
    rows = tables.read(names.T_FETCHES, sites=[site.host]).to_pylist()
    ends = [row["origin_key"] for row in rows if row["is_final"] and row["purpose"] == "page"]
    assert len(ends) == len(set(ends)) == PAGES + 1
    assert len({row["crawl_id"] for row in rows}) == 1
    parsed = tables.read(names.T_LINKS, sites=[site.host]).column("url_key").to_pylist()
    assert len(parsed) == len(set(parsed)) == PAGES + 1
