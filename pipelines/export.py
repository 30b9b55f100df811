"""Exports: live pages as files for people who build search, retrieval or training sets, with a manifest."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import date, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import yaml

from assets import names
from assets.feed.live_pages import LIVE_PAGES, live_pages
from resources.errors import BadSettings
from resources.ports import TableStore

MANIFEST: Final = "manifest.json"
_ROWS: Final = 500
_SLUG_CHARACTERS: Final = 80
_FRONT_MATTER: Final = (
    *("url", "title", "site", "language", "author", "description", "published_on", "modified_on", "fetched_at"),
    *("document_id", "text_digest"),
)


class Format(StrEnum):
    """What kind of files."""

    PARQUET = "parquet"
    JSONL = "jsonl"
    MARKDOWN = "markdown"


@dataclass(frozen=True, slots=True)
class Choice:
    """Which pages."""

    sites: tuple[str, ...] = ()  # none: all
    language: str | None = None  # a tag, or its first part for all of them
    section: str | None = None  # path prefix
    after: date | None = None  # modified, published or else fetched then or later
    min_characters: int = 0
    with_duplicates: bool = False


def export_pages(
    tables: TableStore, folder: Path, kind: Format, choice: Choice, *, exported_at: datetime
) -> dict[str, Any]:
    """Write the chosen pages and a manifest into a new folder; give the manifest.

    Raises:
        BadSettings: the folder is there and holds something, or a site is not known.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadSettings(f"{folder} holds something already: name a folder that is not there yet")
    known = sorted(set(tables.read(names.T_PAGE_STATE, columns=["site"])["site"].to_pylist()))
    unknown = sorted(set(choice.sites) - set(known))
    if unknown:
        raise BadSettings(f"no pages of {', '.join(unknown)} are stored; there are: {', '.join(known) or 'none'}")
    # Under another name until it is whole: a folder of that name is a finished export.
    partial = folder.with_name(f"{folder.name}.partial")
    partial.mkdir(parents=True, exist_ok=True)
    counts: dict[str, Counter[str]] = {"site": Counter(), "language": Counter()}
    files = []
    for site in choice.sites or known:
        pages = chosen(live_pages(site, tables, with_duplicates=choice.with_duplicates), choice)
        if not pages.num_rows:
            continue
        counts["site"][site] += pages.num_rows
        counts["language"].update(pages["language"].to_pylist())
        files += [_told(partial, path, rows) for path, rows in _WRITERS[kind](partial, site, pages)]
    manifest = {
        "exported_at": exported_at.isoformat(timespec="seconds"),
        "format": kind.value,
        "choice": {name: str(value) if isinstance(value, date) else value for name, value in asdict(choice).items()},
        "pages": sum(counts["site"].values()),
        "pages_by_site": dict(sorted(counts["site"].items())),
        "pages_by_language": dict(sorted(counts["language"].items())),
        "columns": {field.name: field.metadata[b"description"].decode() for field in LIVE_PAGES},
        "files": files,
    }
    (partial / MANIFEST).write_text(json.dumps(manifest, ensure_ascii=False, indent=2) + "\n")
    if folder.is_dir():
        folder.rmdir()
    partial.rename(folder)
    return manifest


def chosen(pages: pa.Table, choice: Choice) -> pa.Table:
    """Keep the pages of a choice."""
    keep = pc.field("characters") >= choice.min_characters
    if choice.section is not None:
        keep &= pc.starts_with(pc.field("section"), choice.section)
    if choice.language is not None:
        tag = re.escape(choice.language.lower().replace("_", "-"))
        keep &= pc.match_substring_regex(pc.utf8_lower(pc.field("language")), f"^{tag}(-|$)")
    pages = pages.filter(keep)
    if choice.after is None:
        return pages
    days = (pages[name].to_pylist() for name in ("modified_on", "published_on", "fetched_at"))
    first = choice.after.isoformat()
    told = [
        (modified or published or f"{fetched:%Y-%m-%d}") for modified, published, fetched in zip(*days, strict=True)
    ]
    return pages.filter(pa.array([day >= first for day in told], pa.bool_()))


def _parquet(folder: Path, site: str, pages: pa.Table) -> Iterator[tuple[Path, int]]:
    path = folder / f"{quote(site)}.parquet"
    pq.write_table(pages, path, compression="zstd")
    yield path, pages.num_rows


def _jsonl(folder: Path, site: str, pages: pa.Table) -> Iterator[tuple[Path, int]]:
    path = folder / f"{quote(site)}.jsonl"
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(_plain(row), ensure_ascii=False)}\n" for row in _rows(pages))
    yield path, pages.num_rows


def _markdown(folder: Path, site: str, pages: pa.Table) -> Iterator[tuple[Path, int]]:
    (folder / quote(site)).mkdir(exist_ok=True)
    for row in _rows(pages):
        # The id keeps apart what differs only in case, query or length.
        slug = re.sub(r"[^\w.-]+", "-", row["url"].partition("://")[2].partition("/")[2]).strip("-.") or "index"
        path = folder / quote(site) / f"{slug[:_SLUG_CHARACTERS]}-{row['document_id'][:12]}.md"
        front = yaml.safe_dump({name: _plain(row)[name] for name in _FRONT_MATTER}, allow_unicode=True, sort_keys=False)
        path.write_text(f"---\n{front}---\n\n{row['markdown']}\n", encoding="utf-8")
        yield path, 1


_WRITERS: Final[dict[Format, Callable[[Path, str, pa.Table], Iterator[tuple[Path, int]]]]] = {
    Format.PARQUET: _parquet,
    Format.JSONL: _jsonl,
    Format.MARKDOWN: _markdown,
}


def _rows(pages: pa.Table) -> Iterator[dict[str, Any]]:
    for batch in pages.to_batches(max_chunksize=_ROWS):
        yield from batch.to_pylist()


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in row.items()}


def _told(folder: Path, path: Path, rows: int) -> dict[str, Any]:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {
        "file": path.relative_to(folder).as_posix(),
        "pages": rows,
        "bytes": path.stat().st_size,
        "sha256": digest,
    }
