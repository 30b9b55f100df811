"""The feed command, on a store that holds a site."""

import json
from pathlib import Path

import pytest

from assets.schemas import TABLES
from pipelines.cli.feed import FeedRequest, feed
from resources.delta_tables import DeltaTables
from resources.errors import BadSettings
from tests.support.content import StoredPage, store

SITE = "docs.example"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("ISOBATH_SITES", str(tmp_path / "sites.yaml"))
    return str(tmp_path / "store")


def pages(folder: str, count: int, *, gone: int = 0) -> None:
    found = [
        StoredPage(SITE, f"https://{SITE}/{n}", f"text {n}", status="gone" if n < gone else "live")
        for n in range(count)
    ]
    store(DeltaTables(f"{folder}/tables", TABLES), found)


def test_a_feed_is_told_checked_let_through_compacted_and_emptied(
    folder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def ask(**asked: bool) -> tuple[int, str]:
        code = feed(SITE, FeedRequest(**asked), store=folder, as_json=False)
        said = capsys.readouterr()
        return code, said.err or said.out.splitlines()[0]

    with pytest.raises(BadSettings, match="has no feed"):
        feed(SITE, FeedRequest(), store=folder, as_json=False)
    pages(folder, 20)
    assert ask(let_vanish=True) == (0, f"{SITE}: 20 documents, batch 1, snapshot none")
    pages(folder, 20, gone=15)
    code, said = ask(verify=True)
    assert (code, "15 of 20 documents would vanish, more than 50%" in said) == (1, True)
    assert ask(let_vanish=True) == (0, f"{SITE}: 5 documents, batch 2, snapshot none")
    assert ask(compact=True) == (0, f"{SITE}: 5 documents, batch 2, snapshot 2")
    feed(SITE, FeedRequest(since=0), store=folder, as_json=False)
    changes = [json.loads(line)["op"] for line in capsys.readouterr().out.splitlines()]
    assert changes == ["batch", *["upsert"] * 5, *["tombstone"] * 15]
    with pytest.raises(BadSettings, match="--since"):
        FeedRequest(chunks=True)
    assert ask(withdraw=True) == (0, f"{SITE}: 0 documents, batch 3, snapshot 2")
    with pytest.raises(BadSettings, match="use one of them"):
        FeedRequest(verify=True, compact=True)
