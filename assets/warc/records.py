"""WARC records: what one capture looks like in a file. ISO 28500:2017 (WARC/1.1) decides the form.

Records are put into bytes here and not by warcio's writer, which parses the HTTP block and percent-encodes header bytes
beyond ASCII: an archive keeps what was received. warcio and FastWARC read the result in the tests.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from assets.warc.member import pack_member
from resources.ports import FetchResponse, Truncation

REVISIT_SAME_PAYLOAD: Final = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
REVISIT_NOT_MODIFIED: Final = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
RESPONSE_TYPE: Final = "application/http; msgtype=response"
# Of the head of a 304. Under the page's own address indexers would take it for a capture of the page.
HEAD_URI: Final = "urn:isobath:not-modified"

_RENAMED: Final = "X-Crawler-"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a record lies: its gzip member in a WARC object."""

    file: str  # object key
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class StoredCopy:
    """An earlier capture whose payload a revisit record points at."""

    url: str
    fetched_at: datetime
    payload_digest: str
    place: Place


def warc_date(moment: datetime) -> str:
    """Write a moment as WARC/1.1 does, to the microsecond."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"


def response_head(response: FetchResponse) -> bytes:
    """Write status line and headers so that they fit the body that is stored.

    The body is stored as received less its chunking. A header that would no longer be true (``Transfer-Encoding``,
    a ``Content-Length`` of another length) is kept under ``X-Crawler-``, as Common Crawl does, and a true one added.
    """
    lines = [_status_line(response)]
    length_is_true = False
    for name, value in response.headers:
        lowered = name.lower()
        if lowered == "transfer-encoding":
            name = _RENAMED + name
        elif lowered == "content-length":
            if value.strip() == str(len(response.body)) and not length_is_true:
                length_is_true = True
            else:
                name = _RENAMED + name
        lines.append(f"{name}: {value}")
    if not length_is_true:
        lines.append(f"Content-Length: {len(response.body)}")
    return _head_bytes(lines)


def _status_line(response: FetchResponse) -> str:
    return f"{response.http_version} {response.status} {response.reason}"


def _head_bytes(lines: list[str]) -> bytes:
    return ("\r\n".join(lines) + "\r\n\r\n").encode("iso-8859-1", errors="replace")


def capture_members(response: FetchResponse, *, digest: str, original: StoredCopy | None) -> tuple[bytes, ...]:
    """Make the record of an answer, that of its request and, for a 304, that of its head, each a gzip member.

    Args:
        response: an answer with a status.
        digest: payload digest of the answer's body (of the stored copy for a 304).
        original: when given, the answer is a revisit of it.
    """
    head, moment = response_head(response), warc_date(response.started_at)
    record_id = _new_id()
    fields = {
        "WARC-Type": "response" if original is None else "revisit",
        "WARC-Record-ID": record_id,
        "WARC-Target-URI": response.request.url,
        "WARC-Date": moment,
        "WARC-Payload-Digest": digest,
    }
    if response.peer_ip:
        fields["WARC-IP-Address"] = response.peer_ip
    block = head + response.body if original is None else head
    not_modified = original is not None and response.status == 304
    if original is not None:
        fields["WARC-Profile"] = REVISIT_NOT_MODIFIED if not_modified else REVISIT_SAME_PAYLOAD
        fields["WARC-Refers-To-Target-URI"] = original.url
        fields["WARC-Refers-To-Date"] = warc_date(original.fetched_at)
    if not_modified:
        # Readers send a revisit's own head with the payload of the original. That of a 304 would hide the payload from
        # everybody, so such a revisit has no block, as the standard allows, and its head a record of its own.
        block = b""
    if response.truncated:
        fields["WARC-Truncated"] = response.truncated.value
    elif original is not None and not not_modified:
        fields["WARC-Truncated"] = Truncation.LENGTH.value  # the standard's word for a payload left out on purpose
    fields["Content-Type"] = RESPONSE_TYPE
    request = {
        "WARC-Type": "request",
        "WARC-Record-ID": _new_id(),
        "WARC-Target-URI": response.request.url,
        "WARC-Date": moment,
        "WARC-Concurrent-To": record_id,
        "Content-Type": "application/http; msgtype=request",
    }
    members = (pack_member(fields, block), pack_member(request, response.request_head))
    if not not_modified:
        return members
    # There is no body that a header could be untrue of.
    received = _head_bytes([_status_line(response), *(f"{name}: {value}" for name, value in response.headers)])
    return (*members, metadata_member(HEAD_URI, RESPONSE_TYPE, received, response.started_at, refers_to=record_id))


def metadata_member(
    uri: str, content_type: str, block: bytes, moment: datetime, *, refers_to: str | None = None
) -> bytes:
    """Make a metadata record, a gzip member; ``refers_to`` is the ID of the record that it describes."""
    fields = {
        "WARC-Type": "metadata",
        "WARC-Record-ID": _new_id(),
        "WARC-Target-URI": uri,
        "WARC-Date": warc_date(moment),
        "Content-Type": content_type,
    }
    if refers_to is not None:
        fields["WARC-Refers-To"] = refers_to
    return pack_member(fields, block)


def warcinfo_member(file_name: str, info: Mapping[str, str], moment: datetime) -> bytes:
    """Make the warcinfo record that opens a file, a gzip member."""
    fields = {
        "WARC-Type": "warcinfo",
        "WARC-Record-ID": _new_id(),
        "WARC-Filename": file_name,
        "WARC-Date": warc_date(moment),
        "Content-Type": "application/warc-fields",
    }
    return pack_member(fields, "".join(f"{name}: {value}\r\n" for name, value in info.items()).encode("utf-8"))


def _new_id() -> str:
    # uuid.uuid4 takes three times as long, and a page has two of them.
    random = secrets.token_hex(16)
    variant = "89ab"[int(random[16], 16) & 3]
    return f"<urn:uuid:{random[:8]}-{random[8:12]}-4{random[13:16]}-{variant}{random[17:20]}-{random[20:]}>"
