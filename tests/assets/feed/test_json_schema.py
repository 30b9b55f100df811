"""The published schema of the feed: it is what the code says, and lines of the feed fit it."""

import gzip
import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from assets.feed.compaction import compact
from assets.feed.index_feed import index_feed_of_site
from assets.feed.json_schema import feed_schema
from assets.feed.log import BatchLog
from tests.support.content import store
from tests.support.feeding import SITE, link, page
from tests.support.memory import MemoryObjects, MemoryTables

PUBLISHED = Path(__file__).resolve().parents[3] / "docs" / "feed.schema.json"


def test_the_published_schema_is_that_of_the_code() -> None:
    assert json.loads(PUBLISHED.read_text()) == feed_schema()


def test_lines_of_batches_and_snapshots_fit_the_schema_and_others_do_not() -> None:
    tables, objects = MemoryTables(), MemoryObjects()
    validator = jsonschema.Draft202012Validator(feed_schema())
    link(tables, "2", ("1", "words"))
    pages = [page("1", "# One\ntext"), page("2"), page("3")]
    lines = []
    for found in (pages, [pages[0], pages[1], replace(pages[2], status="gone")]):
        store(tables, found)
        index_feed_of_site(SITE, tables, objects, [])
        lines += [line for data in objects.data.values() for line in gzip.decompress(data).splitlines()]
    compact(BatchLog(objects, SITE))
    lines += [line for data in objects.data.values() for line in gzip.decompress(data).splitlines()]

    changes = [json.loads(line) for line in lines]
    assert {change["op"] for change in changes} == {"batch", "upsert", "tombstone"}
    for change in changes:
        validator.validate(change)
        with pytest.raises(jsonschema.ValidationError):
            validator.validate(change | {"more": 1})
