"""Columns: how a column is declared, and those that many tables share."""

from typing import Final

import pyarrow as pa

UTC_TIME: Final = pa.timestamp("us", tz="UTC")


def column(name: str, kind: pa.DataType, meaning: str, *, unit: str | None = None, optional: bool = False) -> pa.Field:
    """Declare a column: required unless ``optional``."""
    metadata = {"description": meaning} | ({"unit": unit} if unit else {})
    return pa.field(name, kind, nullable=optional, metadata=metadata)


SITE = column("site", pa.string(), "the site: its partition key")
CRAWL_ID = column("crawl_id", pa.string(), "the crawl: its UTC start, sortable")
LAYER = column("layer", pa.string(), "seeds or depth_N")
URL = column("url", pa.string(), "the address that is requested")
URL_KEY = column("url_key", pa.string(), "what decides whether two addresses are one page")
