"""Page versions: which captures must be extracted, and which are done already, here or at another address."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from assets.extract.canonical import CanonicalVerdict
from assets.extract.current import Answer, CurrentPage, PageStatus
from assets.extract.extractor import EXTRACTOR_VERSION, NOT_HTML
from assets.markup.head import web_address
from assets.url.key import KeyRules, url_key

# What ``page_state`` holds of the current version.
VERSION_COLUMNS: Final = [
    *("page_crawl_id", "extractor_version", "payload_digest", "text_digest", "simhash", "features", "characters"),
    *("bands", "fingerprint_version", "language", "declared_canonical_key", "flags"),
]
# Where two pages are equal and lie in one directory, links read the same.
Likeness = tuple[Answer, str]


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a page, as ``page_state`` tells it."""

    columns: Mapping[str, Any]  # VERSION_COLUMNS
    is_page: bool = True


NO_VERSION: Final = Version(
    {
        "page_crawl_id": "",
        "extractor_version": "",
        "payload_digest": "",
        "text_digest": "",
        "simhash": None,
        "features": 0,
        "bands": [],
        "fingerprint_version": 0,
        "characters": 0,
        "language": "",
        "declared_canonical_key": "",
        "flags": [],
    }
)


def version_of(row: Mapping[str, Any], rules: KeyRules) -> Version:
    """Give the version that a row of ``pages`` holds."""
    # One that names several pages names none.
    canonical = "" if row["canonical_verdict"] == CanonicalVerdict.CONFLICTING else row["declared_canonical"]
    return Version(
        {
            **{name: row[name] for name in VERSION_COLUMNS if name in row},
            "page_crawl_id": row["crawl_id"],
            "declared_canonical_key": url_key(canonical, rules) if canonical else "",
        }
    )


def no_page(page: CurrentPage) -> Version:
    """Give the version of a capture that turned out to be no page: it names what was looked at, and no row."""
    digest = page.capture.payload_digest if page.capture else ""
    known = {"payload_digest": digest, "extractor_version": EXTRACTOR_VERSION}
    return Version({**NO_VERSION.columns, **known}, is_page=False)


def carried(page: CurrentPage, state: Mapping[str, Any] | None) -> Version | None:
    """Give the version in ``page_state`` when it is of this very answer and of this extractor; else None."""
    capture = page.capture
    if capture is None or state is None or state["extractor_version"] != EXTRACTOR_VERSION:
        return None
    if state["payload_digest"] != capture.payload_digest:
        return None
    if state["status"] == PageStatus.NOT_A_PAGE and not state["page_crawl_id"]:
        return no_page(page)
    # The same bytes under another Content-Type or X-Robots-Tag are read anew.
    if page.answers.get(state["page_crawl_id"]) != capture.answer:
        return None
    return Version({name: state[name] for name in VERSION_COLUMNS})


def likeness(page: CurrentPage) -> Likeness:
    """Give what two captures share when one extraction serves both."""
    capture = page.capture
    if capture is None:
        raise ValueError(f"{page.url_key} has no capture")
    return capture.answer, web_address(".", capture.url) or capture.url


def groups(pages: Iterable[CurrentPage]) -> list[list[CurrentPage]]:
    """Put together the captures that one extraction serves, in the order in which they are stored."""
    found: dict[Likeness, list[CurrentPage]] = {}
    for page in sorted(pages, key=_stored_at):
        found.setdefault(likeness(page), []).append(page)
    return list(found.values())


def _stored_at(page: CurrentPage) -> tuple[str, int]:
    return (page.capture.place.file, page.capture.place.offset) if page.capture else ("", 0)


def is_no_page(found: Mapping[str, object]) -> bool:
    """Say whether the extractor found that a capture is no page."""
    return found["reason"] == NOT_HTML


def state_row(site: str, page: CurrentPage, version: Version) -> dict[str, Any]:
    """Make the row of ``page_state`` of a page."""
    return {
        "site": site,
        "url": page.url,
        "url_key": page.url_key,
        "status": page.status.value if version.is_page else PageStatus.NOT_A_PAGE.value,
        **version.columns,
        "first_seen_at": page.first_seen_at,
        "last_asked_at": page.last_asked_at,
        "gone_since": page.gone_since,
        "gone_visits": page.gone_visits,
        "forbidden_since": page.forbidden_since,
    }
