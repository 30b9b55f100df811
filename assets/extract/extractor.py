"""The extractor: one stored capture to the text columns of one row of ``pages``. Runs in a worker; knows no table."""

from dataclasses import dataclass
from typing import Final

from assets.extract.documents import DOCUMENT_READERS
from assets.extract.flags import needs_script, quality_flags
from assets.extract.language import text_language
from assets.extract.main_text import MainText, main_text
from assets.extract.metadata import meta_contents, read_metadata
from assets.extract.titles import Title, page_title, path_title
from assets.markup.charset import Text, decode_text, is_html, media_type
from assets.markup.decoding import decode_body
from assets.markup.fingerprint import FINGERPRINT_VERSION, bands, shingles, simhash, text_digest, token_count
from assets.markup.head import alternates, declared_canonicals, html_language, robots_directives
from assets.markup.tree import base_url, parse_plain
from assets.url.parse import parse

# Raise its first number with every change that gives other rows: pages done by an older one are done again.
EXTRACTOR_VERSION: Final = f"3.{FINGERPRINT_VERSION}"
DECODED_BYTES_MAX: Final = 32 * 1024 * 1024
NOT_HTML: Final = "not_html"
EMPTY_PAGE: Final = "empty_page"


@dataclass(frozen=True, slots=True)
class ExtractDocument:
    """One stored capture, as the extractor needs it."""

    url: str
    body: bytes  # content-encoding kept
    content_encoding: str | None
    content_type: str | None
    robots_tag: str | None  # X-Robots-Tag values, comma-joined
    link_header: str | None = None  # Link values, comma-joined
    max_bytes: int = DECODED_BYTES_MAX  # of the body without its content-encoding


def extract(document: ExtractDocument) -> dict[str, object]:
    """Read a capture into the columns of ``pages``, but those that say which capture it was; never raises.

    ``reason`` is ``not_html`` for a body that is no page at all: it makes no row.
    """
    decoded = decode_body(document.body, document.content_encoding, max_bytes=document.max_bytes)
    if not is_html(document.content_type, decoded.data):
        return _other_document(document, decoded.data, decoded.reason)
    text = decode_text(decoded.data, document.content_type)
    tree = parse_plain(text.text)
    if tree is None:
        robots = robots_directives(None, document.robots_tag)
        return no_text(document.url, decoded.reason or EMPTY_PAGE, robots=robots, text=text)
    url = parse(document.url) or document.url
    base = base_url(tree, url)
    meta = meta_contents(tree)
    facts = read_metadata(tree, meta)
    title = page_title(tree, meta, url)
    language = html_language(tree)
    canonicals = declared_canonicals(tree, base, url, document.link_header)
    languages = alternates(tree, base, url, document.link_header)
    robots = robots_directives(tree, document.robots_tag)
    main = main_text(tree, text.text, url)
    shell = needs_script(tree, main.text)
    return {
        "extractor_version": EXTRACTOR_VERSION,
        "reason": main.reason or decoded.reason,
        **_title_columns(title),
        "language": language,
        "author": facts.author,
        "description": facts.description,
        "published_on": facts.published_on,
        "modified_on": facts.modified_on,
        "site_name": facts.site_name,
        "schema_types": list(facts.schema_types),
        "charset": text.charset,
        "charset_source": text.source,
        "declared_canonical": canonicals[0] if canonicals else "",
        "other_canonicals": canonicals[1:],
        "alternates": [{"language": language, "url": named} for language, named in languages],
        **_text_columns(main, shell=shell, robots=robots),
    }


def _other_document(document: ExtractDocument, data: bytes, cut: str) -> dict[str, object]:
    read = DOCUMENT_READERS.get(media_type(document.content_type))
    if read is None:
        return no_text(document.url, NOT_HTML)
    found = read(data, document.content_type)
    robots = robots_directives(None, document.robots_tag)
    canonicals = declared_canonicals(None, document.url, document.url, document.link_header)
    languages = alternates(None, document.url, document.url, document.link_header)
    title = Title(found.title, "document") if found.title else Title(path_title(document.url), "path")
    return {
        **no_text(document.url, found.reason or cut, robots=robots, text=Text("", found.charset, found.charset_source)),
        **_title_columns(title),
        "author": found.author,
        "published_on": found.published_on,
        "modified_on": found.modified_on,
        "declared_canonical": canonicals[0] if canonicals else "",
        "other_canonicals": canonicals[1:],
        "alternates": [{"language": language, "url": named} for language, named in languages],
        **_text_columns(MainText(found.text, found.text, ""), shell="", robots=robots),
    }


def no_text(url: str, reason: str, *, robots: tuple[str, ...] = (), text: Text | None = None) -> dict[str, object]:
    """Make the columns of a page that gave no text, and say why."""
    return {
        "extractor_version": EXTRACTOR_VERSION,
        "reason": reason,
        **_title_columns(Title(path_title(url), "path")),
        "language": "",
        "author": "",
        "description": "",
        "published_on": "",
        "modified_on": "",
        "site_name": "",
        "schema_types": [],
        "charset": text.charset if text else "",
        "charset_source": text.source if text else "",
        "declared_canonical": "",
        "other_canonicals": [],
        "alternates": [],
        **_text_columns(MainText("", "", ""), shell="", robots=robots),
    }


def _title_columns(title: Title) -> dict[str, object]:
    return {"title": title.text, "title_source": title.source}


def _text_columns(main: MainText, *, shell: str, robots: tuple[str, ...]) -> dict[str, object]:
    features = shingles(main.text)
    flags = quality_flags(characters=len(main.text), shell=shell, robots=robots, boilerplate=main.is_furniture)
    return {
        "markdown": main.markdown,
        "text": main.text,
        "text_language": text_language(main.text),
        "characters": len(main.text),
        "words": token_count(main.text),
        "headings": list(main.facts.headings),
        "text_links": list(main.facts.links),
        "text_images": list(main.facts.images),
        "robots": list(robots),
        "flags": list(flags),
        "flag_evidence": [f"{flag}: {evidence}" for flag, evidence in flags.items()],
        "text_digest": text_digest(main.text),
        "simhash": simhash(features) if len(features) else None,
        "features": len(features),
        "bands": bands(features),
        "fingerprint_version": FINGERPRINT_VERSION,
    }
