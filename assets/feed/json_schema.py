"""The JSON Schema of a line of the feed: the same words and types as ``IndexDocument`` and ``Head`` have."""

from dataclasses import fields
from typing import Any, Final

from pydantic import TypeAdapter

from assets.feed.log import Head
from resources.ports import IndexDocument

_DOCUMENT: Final = {
    "document_id": "stable over crawls: the first 32 hex digits of SHA-256 over site and url_key",
    "site": "the site: its partition key",
    "url": "the address that was requested",
    "url_key": "what decides whether two addresses are one page",
    "title": "the page's own title, without the site's name",
    "markdown": "main text as Markdown",
    "text": "main text, plain",
    "language": "language tag; empty when unknown",
    "published_on": "ISO date as the page says; empty when it does not",
    "fetched_at": "ISO 8601 UTC: when the bytes came; not updated while the page says the same",
    "text_digest": "SHA-256 of the normalised text",
    "warc_file": "object key of the WARC file that holds the capture",
    "warc_offset": "where its record starts, in bytes",
    "warc_bytes": "length of its gzip member, in bytes",
    "headings": "headings of the main text, in order",
    "section": "path of the URL without its last segment",
    "modified_on": "ISO date as the page says; empty when it does not",
    "extractor_version": "which rules made title and text",
    "in_links": "pages of the site that link it, when the document was fed",
    "anchor_texts": "of those links: the ten most frequent texts, in alphabetical order",
}
_HEAD: Final = {
    "site": "the site: its partition key",
    "sequence": "number of the batch",
    "is_snapshot": "whether it stands for all batches up to its number",
    "documents": "live documents after it",
    "set_digest": "SHA-256 of them: of a line 'id digest' each, ordered by id",
    "changes": "changes since the last snapshot",
}


def feed_schema() -> dict[str, Any]:
    """Give the schema of one line of a batch."""
    document, head = _described(IndexDocument, _DOCUMENT), _described(Head, _HEAD)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A line of an Isobath feed batch",
        "oneOf": [
            _change("batch", {**head["properties"]}, "The first line: what the batches up to it add up to."),
            _change("upsert", {"document": {"$ref": "#/$defs/document"}}, "Put this document in the place of its id."),
            _change("tombstone", {"document_id": {"type": "string"}}, "Remove the document, if it is there."),
        ],
        "$defs": {"document": document},
    }


def _change(op: str, properties: dict[str, Any], description: str) -> dict[str, Any]:
    return {
        "description": description,
        "type": "object",
        "properties": {"op": {"const": op}, **properties},
        "required": ["op", *properties],
        "additionalProperties": False,
    }


def _described(kind: type[Any], meanings: dict[str, str]) -> dict[str, Any]:
    told = TypeAdapter(kind).json_schema()["properties"]
    kept = ("type", "items")
    properties = {
        field.name: {key: told[field.name][key] for key in kept if key in told[field.name]}
        | {"description": meanings[field.name]}
        for field in fields(kind)
    }
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
