"""Benchmarks still run: each in miniature, for what it prints; how fast anything is, is judged by nobody here."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.loopback import LoopbackSite
from tests.support.small_site import small_site

SECONDS = 120
PAGE = "<html><head><title>{0}</title></head><body><h1>{0}</h1><p>{1}<p><a href='/{0}'>next</a></body></html>"

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a folder of HTML files."""
    for number in range(4):
        words = " ".join(f"word{number}x{place} of a sentence that is long enough." for place in range(60))
        (tmp_path / f"{number}.html").write_text(PAGE.format(f"page{number}", words), encoding="utf-8")
    return tmp_path


def printed(*command: str) -> str:
    """Give what a benchmark prints; it may end with 1, for a limit that is none for so little."""
    ended = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, timeout=SECONDS)
    assert ended.returncode in (0, 1), ended.stderr
    assert "Traceback" not in ended.stderr, ended.stderr
    return ended.stdout


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["bench.politeness", "--hosts", "2", "--pages", "4", "--latency-ms", "10"], "10 of 10"),
        (
            ["bench.frontier_memory", "--hubs", "5", "--pages", "40", "--fetch", "50"],
            "depth_2/frontier           │ 200",
        ),
        (["bench.refresh_cost", "--pages", "200", "--due", "10", "--changed", "2"], "│ 10    │ 2"),
        (["bench.near_duplicates", "--pages", "20000"], "planted"),
        (["bench.recrawl_scale", "--pages", "10000", "--sites", "10", "--results", "100"], "plan"),
        (["bench.search_speed", "--pages", "300"], "phrase"),
        (["bench.simhash_speed"], "pages"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "told",
)
def test_a_benchmark_runs(command: Sequence[str], told: str) -> None:
    assert told in printed(*command)


@pytest.mark.parametrize(
    ("module", "told"),
    [("bench.url_speed", "4 links"), ("bench.near_quality", "recall"), ("bench.extract_speed", "ms theirs")],
)
def test_a_benchmark_of_a_folder_of_pages_runs(module: str, told: str, folder: Path) -> None:
    assert told in printed(module, str(folder))


def test_our_side_of_the_crawl_race_runs(tmp_path: Path) -> None:
    with LoopbackSite(small_site()) as site:
        assert '"pages": 12' in printed("bench.isobath_peer", site.url("/"), str(tmp_path / "store"))
