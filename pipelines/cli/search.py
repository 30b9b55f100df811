"""The search command: answers from the embedded full-text index."""

import json
import re
from dataclasses import asdict
from html import unescape

from rich.console import Console
from rich.text import Text

from pipelines.cli.parts import deployment_for
from resources.errors import BadSettings
from resources.ports import SearchFilter


def print_hits(words: str, *, only: SearchFilter, limit: int, page: int, store: str | None, as_json: bool) -> int:
    """Print a page of the best hits; an index that lags behind the feed is brought up to date by the next feed.

    Raises:
        BadSettings: the embedded index is switched off.
    """
    index = deployment_for(store).index
    if index is None:
        raise BadSettings("the embedded index is switched off: set ISOBATH_EMBEDDED_INDEX=on and feed the sites again")
    first = limit * (page - 1)
    hits = index.search(words, limit=limit, offset=first, only=only)
    console = Console(soft_wrap=True)
    if as_json:
        console.print_json(json.dumps([asdict(hit) for hit in hits], ensure_ascii=False))
        return 0
    if not hits:
        console.print("Nothing found." if page == 1 else "Nothing more.")
    for number, hit in enumerate(hits, start=first + 1):
        about = "  ".join(part for part in (f"{hit.score:.1f}", hit.day, hit.language) if part)
        console.print(Text.assemble((f"{number}. {hit.title or hit.url}", "bold"), f"  {about}"))
        console.print(Text(f"   {hit.url}", style="blue"))
        console.print(Text("   ") + snippet(hit.snippet_html))
    return 0


def snippet(html: str) -> Text:
    """Turn a snippet with ``<b>`` marks into terminal text."""
    text = Text()
    for index, part in enumerate(re.split(r"</?b>", html)):
        text.append(re.sub(r"\s+", " ", unescape(part)), style="bold yellow" if index % 2 else "")
    return text
