"""The show command: the stored copy of a page, as Markdown, as it was sent, or its headers."""

import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

import pyarrow.dataset as ds
from rich.console import Console

from assets import names
from assets.markup.charset import decode_text
from assets.markup.decoding import decode_body
from assets.url.key import KeyRules, url_key
from assets.warc.reading import StoredBody, read_body
from pipelines.cli.explain import explained
from pipelines.cli.parts import deployment_for
from pipelines.deployments import Deployment
from resources.errors import BadSettings
from resources.ports import TableStore

_SHOWN_BYTES_MAX = 256 * 1024 * 1024
_FETCH_COLUMNS = (
    *("crawl_id", "url", "requested_at", "status", "content_type", "payload_digest"),
    *("body_warc_file", "body_warc_offset", "body_warc_bytes"),
)


class View(StrEnum):
    """What of a page is shown."""

    MARKDOWN = "--markdown"
    HTML = "--html"
    HEADERS = "--headers"


def show_page(
    address: str, asked: Sequence[View], *, as_of: datetime | None, site: str | None, store: str | None
) -> int:
    """Print a stored page to standard output; give 1 when there is none.

    Raises:
        BadSettings: more than one view was asked for, or the address does not say its site.
    """
    if len(asked) > 1:
        raise BadSettings(f"{' and '.join(asked)}: ask for one of them")
    deployment = deployment_for(store)
    site, key = _page_of(deployment, address, site)
    capture = _capture(deployment.tables, site, key, _moment(as_of))
    view = asked[0] if asked else View.MARKDOWN
    text = None
    if capture is not None:
        text = (
            _markdown(deployment.tables, site, key, capture)
            if view is View.MARKDOWN
            else _sent(deployment, capture, view)
        )
    if text is None:
        when = f" as of {as_of:%Y-%m-%d %H:%M:%S}" if as_of else ""
        what = "no text" if capture else "no copy"
        Console(stderr=True, soft_wrap=True).print(f"There is {what} of {key} in {site}{when}.", highlight=False)
        return 1
    sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
    return 0


def _page_of(deployment: Deployment, address: str, site: str | None) -> tuple[str, str]:
    """Give the site and the url_key of the page that an address is, aliases followed."""
    site, _ = explained(deployment, address, site)
    key = url_key(address, KeyRules.of(deployment.resources["catalog"].settings(site)))
    rows = deployment.tables.read(
        names.T_ALIASES, sites=[site], columns=["alias_of"], where=ds.field("url_key") == key
    ).to_pylist()
    return site, str(rows[0]["alias_of"]) if rows else key


def _moment(as_of: datetime | None) -> datetime | None:
    """A date alone means its whole day."""
    if as_of is None:
        return None
    is_date = (as_of.hour, as_of.minute, as_of.second) == (0, 0, 0)
    return as_of.replace(tzinfo=UTC) + (timedelta(days=1, microseconds=-1) if is_date else timedelta(seconds=1))


def _capture(tables: TableStore, site: str, key: str, moment: datetime | None) -> dict[str, Any] | None:
    """Give the last answer with a body, until a moment."""
    where = (ds.field("url_key") == key) & (ds.field("purpose") == "page") & ds.field("body_warc_file").is_valid()
    rows = tables.read(names.T_FETCHES, sites=[site], columns=_FETCH_COLUMNS, where=where & _shows_page())
    captures = [row for row in rows.to_pylist() if moment is None or row["requested_at"] <= moment]
    return max(captures, key=lambda row: row["requested_at"], default=None)


def _shows_page() -> ds.Expression:
    return ds.field("outcome").isin(["fetched", "not_modified", "truncated", "too_large", "wrong_type"])


def _markdown(tables: TableStore, site: str, key: str, capture: dict[str, Any]) -> str | None:
    """Give the text of a capture, or of an earlier one with the same payload, by the newest extractor."""
    rows = tables.read(
        names.T_PAGES,
        sites=[site],
        columns=["crawl_id", "extractor_version", "markdown"],
        where=(ds.field("url_key") == key) & (ds.field("payload_digest") == capture["payload_digest"]),
    ).to_pylist()
    newest = max(rows, key=lambda row: (row["crawl_id"], row["extractor_version"]), default=None)
    return str(newest["markdown"]) if newest and newest["markdown"] else None


def _sent(deployment: Deployment, capture: dict[str, Any], view: View) -> str:
    place = (capture["body_warc_file"], capture["body_warc_offset"], capture["body_warc_bytes"])
    stored = read_body(deployment.objects, *place)
    return _headers(stored, capture) if view is View.HEADERS else _decoded(stored)


def _headers(stored: StoredBody, capture: dict[str, Any]) -> str:
    """Give the headers as received, after a line that says of which request they are."""
    about = f"{capture['status']} {capture['url']} {capture['requested_at']:%Y-%m-%dT%H:%M:%SZ}"
    return "\n".join([about, *(f"{name}: {value}" for name, value in stored.http_headers)])


def _decoded(stored: StoredBody) -> str:
    body = decode_body(stored.body, stored.header("Content-Encoding"), max_bytes=_SHOWN_BYTES_MAX)
    return decode_text(body.data, stored.header("Content-Type")).text
