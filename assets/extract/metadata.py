"""What a page says of itself in ``meta`` elements, JSON-LD and microdata: author, dates, kinds. Nothing is guessed."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from email.utils import parsedate_to_datetime
from typing import Any, Final

from lxml import etree

from assets.markup.head import folded

AUTHOR_CHARACTERS_MAX: Final = 300
DESCRIPTION_CHARACTERS_MAX: Final = 2_000
SITE_NAME_CHARACTERS_MAX: Final = 300
SCHEMA_TYPES_MAX: Final = 50
_JSON_LD_CHARACTERS_MAX: Final = 500_000
_JSON_LD_NODES_MAX: Final = 5_000

_PUBLISHED: Final = (
    "article:published_time",
    "og:published_time",
    "datepublished",
    "date",
    "dc.date",
    "dc.date.issued",
    "dcterms.issued",
    "dc.date.created",
    "dcterms.created",
    "dcterms.date",
    "pubdate",
    "publishdate",
    "publication_date",
    "citation_publication_date",
    "parsely-pub-date",
)
_MODIFIED: Final = (
    "article:modified_time",
    "og:updated_time",
    "datemodified",
    "dcterms.modified",
    "dc.date.modified",
    "last-modified",
    "lastmod",
    "revised",
)
_TYPE_NAME: Final = re.compile(r"[A-Za-z]\w{0,60}", re.ASCII)
_ITEM_TYPES: Final = etree.XPath("//@itemtype", smart_strings=False)
_ISO: Final = re.compile(r"\s*(\d{4})[-/.]?(\d{2})[-/.]?(\d{2})(?!\d)")


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a page says of itself; empty where it says nothing."""

    author: str
    description: str
    published_on: str  # ISO date
    modified_on: str  # ISO date
    site_name: str
    schema_types: tuple[str, ...]  # of schema.org: Article, Product, ...


def meta_contents(tree: etree._Element) -> dict[str, str]:
    """Give the content of ``meta`` elements by name, property or itemprop in lower case; the first of each counts."""
    found: dict[str, str] = {}
    for element in tree.iter("meta"):
        content = folded(element.get("content"))
        name = element.get("name") or element.get("property") or element.get("itemprop") or ""
        if name and content:
            found.setdefault(name.strip().lower(), content)
    return found


def read_metadata(tree: etree._Element, meta: dict[str, str]) -> Metadata:
    """Read what a page says of itself; ``meta`` elements come before JSON-LD."""
    linked, types = _json_ld(tree)
    author = next((meta[name] for name in ("author", "dc.creator", "article:author", "byl") if meta.get(name)), "")
    if author.startswith(("http://", "https://")):
        author = ""
    description = meta.get("description") or meta.get("og:description") or meta.get("dc.description") or ""
    return Metadata(
        author=(author or linked.get("author", ""))[:AUTHOR_CHARACTERS_MAX],
        description=(description or linked.get("description", ""))[:DESCRIPTION_CHARACTERS_MAX],
        published_on=_first_date([meta.get(name) for name in _PUBLISHED] + [linked.get("datePublished")]),
        modified_on=_first_date([meta.get(name) for name in _MODIFIED] + [linked.get("dateModified")]),
        site_name=(meta.get("og:site_name") or meta.get("application-name") or "")[:SITE_NAME_CHARACTERS_MAX],
        schema_types=tuple(dict.fromkeys([*types, *_item_types(tree)]))[:SCHEMA_TYPES_MAX],
    )


def iso_date(text: str) -> str:
    """Give the day that a text names, as an ISO date; empty when it names none.

    >>> iso_date("2024-05-01T10:00:00Z"), iso_date("Wed, 01 May 2024 10:00:00 GMT"), iso_date("2024-13-01")
    ('2024-05-01', '2024-05-01', '')
    """
    match = _ISO.match(text)
    try:
        if match:
            return date(int(match[1]), int(match[2]), int(match[3])).isoformat()
        return parsedate_to_datetime(text[:100]).date().isoformat()
    except (ValueError, OverflowError, IndexError, TypeError):
        return ""


def _first_date(texts: list[str | None]) -> str:
    return next((day for text in texts if text and (day := iso_date(text))), "")


def _json_ld(tree: etree._Element) -> tuple[dict[str, str], list[str]]:
    """Give author, description and dates of the first JSON-LD objects that have them, and the types of all."""
    found: dict[str, str] = {}
    types: list[str] = []
    for element in tree.iter("script"):
        if (element.get("type") or "").strip().lower() != "application/ld+json":
            continue
        raw = element.text or ""
        if len(raw) > _JSON_LD_CHARACTERS_MAX:
            continue
        try:
            data: object = json.loads(raw, strict=False)
        except (ValueError, RecursionError):
            continue
        for node in _objects(data):
            for name in ("description", "datePublished", "dateModified"):
                value = node.get(name)
                if isinstance(value, str) and value.strip():
                    found.setdefault(name, folded(value))
            author = _names(node.get("author"))
            if author:
                found.setdefault("author", author)
            kinds = node.get("@type")
            types += [_type_name(kind) for kind in (kinds if isinstance(kinds, list) else [kinds]) if kind]
    return found, [name for name in types if name]


def _item_types(tree: etree._Element) -> Iterator[str]:
    values: Any = _ITEM_TYPES(tree)
    for kind in " ".join(values).split():
        if "schema.org/" in kind and (name := _type_name(kind)):
            yield name


def _type_name(kind: object) -> str:
    """Give the name of a schema.org type without its address; empty for what is none."""
    name = kind.rpartition("/")[2].rpartition(":")[2] if isinstance(kind, str) else ""
    return name if _TYPE_NAME.fullmatch(name) else ""


def _objects(data: object) -> Iterator[dict[str, object]]:
    """Go through the objects of a JSON document, outer ones first."""
    queue = [data]
    for _ in range(_JSON_LD_NODES_MAX):
        if not queue:
            return
        node = queue.pop(0)
        if isinstance(node, dict):
            yield node
            queue.extend(value for value in node.values() if isinstance(value, dict | list))
        elif isinstance(node, list):
            queue.extend(node[:_JSON_LD_NODES_MAX])


def _names(author: object) -> str:
    authors = author if isinstance(author, list) else [author]
    names = (one.get("name") if isinstance(one, dict) else one for one in authors)
    return ", ".join(
        folded(name) for name in names if isinstance(name, str) and not name.startswith(("http://", "https://"))
    )
