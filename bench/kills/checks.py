"""What must hold after all kills: looked up in Delta tables, WARC files and folders, not asked of our own code."""

import re
from collections import Counter
from collections.abc import Mapping
from io import BytesIO
from typing import Any

from warcio.archiveiterator import ArchiveIterator

from bench.kills.lives import Ground, rows_of
from bench.kills.stores import scratch_left

Ends = dict[str, tuple[str, int]]  # path -> outcome, status
_SAME_PAGE = {"not_modified": ("fetched", 200)}  # a later crawl of the same page


def ends_of_crawls(ground: Ground) -> dict[str, Ends]:
    """Give how each frontier row ended, for each crawl."""
    found: dict[str, Ends] = {}
    for row in rows_of(ground.store.table("fetches")):
        if row["is_final"] and row["purpose"] == "page":
            path = str(row["origin_key"]).removeprefix(ground.site.url(""))
            end = _SAME_PAGE.get(row["outcome"], (row["outcome"], row["status"] or 0))
            found.setdefault(str(row["crawl_id"]), {})[path] = end
    return found


def violations(ground: Ground, expected: Ends) -> list[str]:
    """Say what is wrong with a store whose last crawl came to its end."""
    return [
        *ground.violations,
        *_outcome_violations(ground, expected),
        *_table_violations(ground),
        *_archive_violations(ground),
        *(f"an unfinished write is left: {name}" for name in ground.store.unfinished()),
        *(f"a temporary folder is left: {name}" for name in scratch_left(ground.temporary_folder)),
    ]


def _outcome_violations(ground: Ground, expected: Ends) -> list[str]:
    found = []
    for crawl_id, ends in ends_of_crawls(ground).items():
        odd = sorted({*ends.items()} ^ {*expected.items()})
        if odd:
            found.append(f"crawl {crawl_id} ended otherwise than one that was never killed: {odd[:10]}")
    return found


def _table_violations(ground: Ground) -> list[str]:
    """Count rows: one final row for each frontier row, one row of links for each page, no row twice."""
    found = []
    fetches = rows_of(ground.store.table("fetches"))
    finals = Counter((r["crawl_id"], r["origin_key"]) for r in fetches if r["is_final"] and r["purpose"] == "page")
    frontier = Counter((r["crawl_id"], r["url_key"]) for r in rows_of(ground.store.table("frontier")))
    links = Counter((r["crawl_id"], r["url_key"]) for r in rows_of(ground.store.table("links")))
    pages = {
        (r["crawl_id"], r["url_key"])
        for r in fetches
        if r["purpose"] == "page" and r["outcome"] == "fetched" and str(r["content_type"]).startswith("text/html")
    }
    for name, counts in (("final row", finals), ("frontier row", frontier), ("row of links", links)):
        found += [f"{count} times the same {name}: {key}" for key, count in counts.items() if count > 1]
    found += [f"no final row: {key}" for key in frontier.keys() - finals.keys()]
    found += [f"a final row without a frontier row: {key}" for key in finals.keys() - frontier.keys()]
    found += [f"links were not read: {key}" for key in pages - links.keys()]
    return found


def _archive_violations(ground: Ground) -> list[str]:
    """Compare the files with the rows, both ways, and read each record."""
    found: list[str] = []
    files = ground.store.files(f"raw/site={ground.site.host}")
    rows = [row for row in rows_of(ground.store.table("fetches")) if row["warc_file"]]
    named = {str(row["warc_file"]) for row in rows}
    archives = {key: data for key, data in files.items() if key.endswith(".warc.gz")}
    indexes = {key for key in files if key.endswith(".cdxj")}
    found += [f"a file that no row names: {key}" for key in archives.keys() - named]
    found += [f"a row names a file that is not there: {key}" for key in named - archives.keys()]
    found += [f"no index: {key}" for key in archives if re.sub(r"\.warc\.gz$", ".cdxj", key) not in indexes]
    found += [f"neither archive nor index: {key}" for key in files.keys() - archives.keys() - indexes]
    captures = {(row["warc_file"], row["warc_offset"]) for row in rows}
    records = set()
    for key, data in archives.items():
        records |= {(key, offset) for offset in _captures(key, data, found)}
    found += [f"a row names no record: {place}" for place in captures - records]
    found += [f"no row names a record: {place}" for place in records - captures]
    if len(rows) != len(captures):
        found.append(f"{len(rows)} rows for {len(captures)} captures")
    return found


def _captures(key: str, data: bytes, found: list[str]) -> list[int]:
    """Give the offsets of an archive's captures; add records that are not whole to ``found``."""
    offsets = []
    archive = ArchiveIterator(BytesIO(data), check_digests=True)
    for record in archive:
        record.raw_stream.read()
        fields: Mapping[str, Any] = dict(record.rec_headers.headers)
        if "WARC-Block-Digest" not in fields or record.digest_checker.passed is False:
            found.append(f"a record without a true digest: {key} at {archive.get_record_offset()}")
        if record.rec_type in ("response", "revisit"):
            offsets.append(archive.get_record_offset())
    return offsets
