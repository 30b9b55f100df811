"""CDXJ lines: the index of a WARC file, one sorted line a capture, as pywb and OpenWayback read it."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

import pyarrow as pa

from assets.warc.row_objects import row_objects
from assets.warc.surt import surt

_COLUMNS: Final = [
    *("url", "requested_at", "record_type", "content_type", "status", "payload_digest"),
    *("warc_file", "warc_offset", "warc_bytes"),
]


def cdxj_line(row: Mapping[str, object]) -> str:
    """Write the line of one capture, a row of the ``fetches`` table that has a record."""
    moment = row["requested_at"]
    if not isinstance(moment, datetime):
        raise TypeError(f"requested_at is not a datetime: {moment!r}")
    fields = {
        "url": row["url"],
        "mime": "warc/revisit" if row["record_type"] == "revisit" else _media_type(row["content_type"]),
        "status": str(row["status"]),
        "digest": str(row["payload_digest"]).removeprefix("sha1:"),
        "length": str(row["warc_bytes"]),
        "offset": str(row["warc_offset"]),
        "filename": str(row["warc_file"]).rsplit("/", 1)[-1],
    }
    return f"{surt(str(row['url']))} {moment.astimezone(UTC):%Y%m%d%H%M%S} {json.dumps(fields, ensure_ascii=False)}"


def cdxj(fetches: pa.Table) -> bytes:
    """Write the index of one WARC file from the rows of ``fetches`` of its captures."""
    lines = sorted(cdxj_line(row) for row in row_objects(fetches.select(_COLUMNS)) if row["warc_file"])
    return "".join(line + "\n" for line in lines).encode("utf-8")


def _media_type(content_type: object) -> str:
    return str(content_type or "").split(";")[0].strip().lower() or "unk"
