"""Current pages: what the history of fetches says of each page today: does it live, and which capture shows it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from assets.extract.documents import DOCUMENT_READERS
from assets.markup.charset import is_html, media_type
from assets.url.host import host_key
from assets.warc.records import Place

# A page that once lived is gone only when it was gone twice, so far apart. A deployment takes minutes, not a day.
GONE_VISITS_MIN: Final = 2
GONE_SPAN_MIN: Final = timedelta(hours=24)

# Columns of ``fetches`` that are read.
COLUMNS: Final = [
    *("crawl_id", "purpose", "url", "url_key", "hop", "attempt", "outcome", "requested_at", "content_type"),
    *("payload_digest", "robots_tag", "link_header", "body_warc_file", "body_warc_offset", "body_warc_bytes"),
]

_ALIVE: Final = frozenset({"fetched", "not_modified", "truncated", "too_large"})
# To a made-up address; errors say nothing of what the host shows there.
_PROBE_ANSWERS: Final = frozenset({"fetched", "gone", "redirected", "wrong_type"})
# Nobody asked the page itself, so that the row says nothing of it.
_NOT_ASKED: Final = frozenset({"robots_denied", "out_of_scope", "private_address"})


# Payload digest, Content-Type, X-Robots-Tag, Link: captures with equal ones read the same.
Answer = tuple[str, str | None, str | None, str | None]


class PageStatus(StrEnum):
    """What a page is today."""

    LIVE = "live"  # it was read, and is not known to be gone
    GONE = "gone"  # 404 or 410, confirmed by a second visit if it was ever read
    ERROR = "error"  # never seen, only errors
    NOT_A_PAGE = "not_a_page"  # it answers, but not with a page


@dataclass(frozen=True, slots=True)
class Capture:
    """The stored answer that shows a page as it is."""

    crawl_id: str
    url: str
    fetched_at: datetime  # when its bytes came; a 304 brings none
    payload_digest: str
    content_type: str | None
    robots_tag: str | None
    link_header: str | None
    place: Place
    is_whole: bool

    @property
    def answer(self) -> Answer:
        """What decides how it is read."""
        return self.payload_digest, self.content_type, self.robots_tag, self.link_header

    @property
    def may_be_page(self) -> bool:
        """Whether it is HTML, has no type that says what it is, or is a whole document of a kind that is read."""
        kind = media_type(self.content_type)
        return not kind or is_html(self.content_type, b"") or (self.is_whole and kind in DOCUMENT_READERS)


@dataclass(frozen=True, slots=True)
class CurrentPage:
    """One page of a site, as the fetches tell it."""

    url: str
    url_key: str
    status: PageStatus
    capture: Capture | None
    answers: Mapping[str, Answer]  # the last capture of each crawl
    first_seen_at: datetime
    last_asked_at: datetime
    gone_since: datetime | None
    gone_visits: int
    forbidden_since: datetime | None = None


def current_pages(fetches: Iterable[Mapping[str, Any]]) -> list[CurrentPage]:
    """Judge every page of a site by its fetches, in ``url_key`` order.

    A page that redirects, and one that was never allowed to be asked, is none. An error, a refusal by robots or a
    page that is gone once changes nothing for a page that lived. One that robots.txt goes on forbidding still lives,
    and is marked.
    """
    histories: dict[str, list[Mapping[str, Any]]] = {}
    for row in fetches:
        if row["purpose"] == "page":
            histories.setdefault(row["url_key"], []).append(row)
    pages = (_judge(key, histories[key]) for key in sorted(histories))
    return [page for page in pages if page is not None]


def probes_of(fetches: Iterable[Mapping[str, Any]]) -> list[Capture]:
    """Give the last answer of each host to a made-up address, if that was a page, with status 200 or with 404."""
    answers = (row for row in fetches if row["purpose"] == "probe" and row["outcome"] in _PROBE_ANSWERS)
    last = {host_key(row["url"]): row for row in sorted(answers, key=lambda row: row["requested_at"])}
    return _captures([row for row in last.values() if row["outcome"] in ("fetched", "gone")])


def _judge(url_key: str, history: list[Mapping[str, Any]]) -> CurrentPage | None:
    history.sort(key=lambda row: (row["requested_at"], row["hop"], row["attempt"]))
    asked = [row for row in history if row["outcome"] not in _NOT_ASKED]
    alive = [row for row in asked if row["outcome"] in _ALIVE]
    # Errors say nothing of whether the page is there: the answers before them count.
    answers = [
        row for row in asked if row["outcome"] in _ALIVE or row["outcome"] in ("gone", "redirected", "wrong_type")
    ]
    if not asked or (answers and answers[-1]["outcome"] == "redirected"):
        return None
    gone = _last_run(answers, "gone")
    forbidden = _last_run(history, "robots_denied")
    # What the peer cut off is shown only while there is nothing whole.
    captures = _captures([row for row in alive if row["outcome"] != "truncated"]) or _captures(alive)
    capture = captures[-1] if captures else None
    last = answers[-1]["outcome"] if answers else ""
    if last == "wrong_type":
        status = PageStatus.NOT_A_PAGE
    elif gone and (not alive or _is_confirmed(gone)):
        status = PageStatus.GONE
    elif alive:
        status = PageStatus.LIVE if capture is None or capture.may_be_page else PageStatus.NOT_A_PAGE
    else:
        status = PageStatus.ERROR
    return CurrentPage(
        url=capture.url if capture else asked[-1]["url"],
        url_key=url_key,
        status=status,
        capture=capture,
        answers={one.crawl_id: one.answer for one in captures},
        first_seen_at=(alive or asked)[0]["requested_at"],
        last_asked_at=asked[-1]["requested_at"],
        gone_since=gone[0]["requested_at"] if gone else None,
        gone_visits=len(gone),
        forbidden_since=forbidden[0]["requested_at"] if _is_confirmed(forbidden) else None,
    )


def _last_run(answers: list[Mapping[str, Any]], outcome: str) -> list[Mapping[str, Any]]:
    """Give the answers at the end that have an outcome, in order."""
    start = len(answers)
    while start and answers[start - 1]["outcome"] == outcome:
        start -= 1
    return answers[start:]


def _is_confirmed(visits: list[Mapping[str, Any]]) -> bool:
    """Say whether an answer was given so often and for so long that it is meant."""
    return len(visits) >= GONE_VISITS_MIN and visits[-1]["requested_at"] - visits[0]["requested_at"] >= GONE_SPAN_MIN


def _captures(alive: list[Mapping[str, Any]]) -> list[Capture]:
    """Give the captures that have a payload, in order."""
    first: dict[Place, Mapping[str, Any]] = {}
    captures = []
    for row in alive:
        if row["body_warc_file"] is None:
            continue
        place = Place(row["body_warc_file"], row["body_warc_offset"], row["body_warc_bytes"])
        stored = first.setdefault(place, row)
        robots_tag, link_header = row["robots_tag"], row["link_header"]
        if row["outcome"] == "not_modified":
            # A 304 need not repeat the headers of the copy that it confirms.
            robots_tag = stored["robots_tag"] if robots_tag is None else robots_tag
            link_header = stored["link_header"] if link_header is None else link_header
        captures.append(
            Capture(
                crawl_id=row["crawl_id"],
                url=row["url"],
                fetched_at=stored["requested_at"],
                payload_digest=row["payload_digest"] or "",
                content_type=row["content_type"],
                robots_tag=robots_tag,
                link_header=link_header,
                place=place,
                is_whole=row["outcome"] in ("fetched", "not_modified"),
            )
        )
    return captures
