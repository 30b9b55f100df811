"""The row of a page that could not be parsed: no links, and why."""

import pyarrow as pa

from assets.schemas import LINKS

_GIVEN_BY_THE_CRAWL = frozenset({"site", "crawl_id", "layer", "url", "url_key", "requested_at"})


def unread_links(reason: str) -> dict[str, object]:
    """Give the columns that ``read_links`` gives, empty, with the reason."""
    return {field.name: _empty(field.type) for field in LINKS if field.name not in _GIVEN_BY_THE_CRAWL} | {
        "reason": reason
    }


def _empty(kind: pa.DataType) -> object:
    if pa.types.is_list(kind):
        return []
    return 0 if pa.types.is_integer(kind) else ""
