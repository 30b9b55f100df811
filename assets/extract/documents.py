"""Documents other than HTML that a site may count as pages: plain text, and PDF by pypdf."""

import io
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from assets.markup.charset import decode_text
from assets.markup.head import folded

ENCRYPTED: Final = "encrypted"
BROKEN: Final = "broken_pdf"
_TITLE_MAX: Final = 500


@dataclass(frozen=True, slots=True)
class Document:
    """What a document says; ``reason`` tells why it has no text, or not all of it."""

    text: str
    reason: str = ""
    title: str = ""  # that it names itself
    author: str = ""
    published_on: str = ""  # ISO date
    modified_on: str = ""  # ISO date
    charset: str = ""
    charset_source: str = ""


def read_text(data: bytes, content_type: str | None) -> Document:
    """Read a plain text; its lines stay as they are."""
    decoded = decode_text(data, content_type)
    text = decoded.text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "").strip("\n")
    return Document(text.rstrip(), charset=decoded.charset, charset_source=decoded.source)


def read_pdf(data: bytes, content_type: str | None) -> Document:
    """Read a PDF, page by page; pages that cannot be read are left out and told."""
    # Only who reads a PDF pays for the import.
    from pypdf import PdfReader
    from pypdf.errors import FileNotDecryptedError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it tells of every oddity that it gets over
    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            return Document("", ENCRYPTED)
        pages, unread = [], 0
        for page in reader.pages:
            try:
                pages.append(page.extract_text())
            except Exception:  # noqa: BLE001 - pypdf raises whatever a broken page makes it stumble over
                unread += 1
        meta = reader.metadata
        return Document(
            "\n\n".join(text.strip() for text in pages if text.strip()).replace("\0", ""),
            f"{BROKEN}: {unread} of {unread + len(pages)} pages" if unread else "",
            title=folded(meta.title)[:_TITLE_MAX] if meta else "",
            author=folded(meta.author) if meta else "",
            published_on=_day(lambda: meta.creation_date if meta else None),
            modified_on=_day(lambda: meta.modification_date if meta else None),
        )
    except FileNotDecryptedError:
        return Document("", ENCRYPTED)
    except Exception as error:  # noqa: BLE001 - as above: a broken document is a row
        return Document("", f"{BROKEN}: {type(error).__name__}: {error}"[:300])


def _day(read: Callable[[], datetime | None]) -> str:
    try:
        moment = read()
    except ValueError:
        return ""
    return moment.date().isoformat() if moment else ""


# By media type.
DOCUMENT_READERS: Final[Mapping[str, Callable[[bytes, str | None], Document]]] = {
    "text/plain": read_text,
    "application/pdf": read_pdf,
}
