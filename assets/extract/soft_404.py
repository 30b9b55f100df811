"""Soft 404s: pages that say what the site's answer to a made-up address says, with status 200.

The crawl asks each host for an address that nobody ever made. What comes with status 200 is what the site shows where
there is no page; a page with that text is none either. The start page of a host is never taken for one: some sites
answer everything with it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from assets.extract.flags import Flag
from assets.markup.fingerprint import tokens
from assets.markup.volatile import without_volatile
from assets.url.host import host_key

SIMILARITY_MIN: Final = 0.9  # shared words by all words, each as often as it stands there

Words = Counter[str]


@dataclass(frozen=True, slots=True)
class _ErrorPage:
    url: str
    title: Words | None  # None: it has none of its own
    text: Words


class ErrorPages:
    """What hosts show where there is no page."""

    def __init__(self, answers: Iterable[tuple[str, Mapping[str, Any]]] = ()) -> None:
        """Take what the extractor found at made-up addresses, the address with each."""
        self._pages: dict[str, _ErrorPage] = {}
        for url, found in answers:
            text = _words(found["text"])
            # A shell that scripts fill says the same of pages that are there.
            if text and Flag.NEEDS_JS not in found["flags"]:
                self._pages[host_key(url)] = _ErrorPage(url, _title(found), text)

    def flagged(self, row: Mapping[str, Any]) -> dict[str, list[str]]:
        """Give ``flags`` and ``flag_evidence`` of a row of ``pages``; what an equal page elsewhere is says nothing."""
        flags = [flag for flag in row["flags"] if flag != Flag.SOFT_404]
        evidence = [said for said in row["flag_evidence"] if not said.startswith(f"{Flag.SOFT_404}:")]
        alike = self._alike(row)
        if alike:
            flags.append(Flag.SOFT_404.value)
            evidence.append(f"{Flag.SOFT_404}: as {alike}, which nobody made")
        return {"flags": flags, "flag_evidence": evidence}

    def _alike(self, row: Mapping[str, Any]) -> str:
        url = row["url"]
        error = self._pages.get(host_key(url))
        if error is None or not row["text"] or _is_start(url):
            return ""
        # An error page may well repeat the address that it was asked for.
        echo = set(tokens(error.url)) | set(tokens(url))
        title = _title(row)
        if title is not None and error.title is not None and not _are_alike(title, error.title, echo):
            return ""
        return error.url if _are_alike(_words(row["text"]), error.text, echo) else ""


def _is_start(url: str) -> bool:
    parts = urlsplit(url)
    return parts.path in ("", "/") and not parts.query


def _words(text: str) -> Words:
    return Counter(tokens(without_volatile(text)))


def _title(found: Mapping[str, Any]) -> Words | None:
    return None if found["title_source"] == "path" else _words(found["title"])


def _are_alike(one: Words, other: Words, echo: set[str]) -> bool:
    one, other = (Counter({word: n for word, n in words.items() if word not in echo}) for words in (one, other))
    every = (one | other).total()
    return every == 0 or (one & other).total() >= SIMILARITY_MIN * every
