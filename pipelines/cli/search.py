"""The search command: answers from the embedded full-text index."""

import json
import re
from dataclasses import asdict
from html import unescape

from rich.console import Console
from rich.text import Text

from pipelines.cli.parts import deployment_for
from resources.errors import BadSettings


def print_hits(words: str, *, site: str | None, limit: int, store: str | None, as_json: bool) -> int:
    """Print the best hits; an index that lags behind the feed is brought up to date by the next feed.

    Raises:
        BadSettings: the embedded index is switched off.
    """
    index = deployment_for(store).index
    if index is None:
        raise BadSettings("the embedded index is switched off: set ISOBATH_EMBEDDED_INDEX=on and feed the sites again")
    hits = index.search(words, limit=limit, site=site)
    console = Console(soft_wrap=True)
    if as_json:
        console.print_json(json.dumps([asdict(hit) for hit in hits], ensure_ascii=False))
        return 0
    if not hits:
        console.print("Nothing found.")
    for number, hit in enumerate(hits, start=1):
        console.print(Text.assemble((f"{number}. {hit.title or hit.url}", "bold"), f"  {hit.score:.1f}"))
        console.print(Text(f"   {hit.url}", style="blue"))
        console.print(Text("   ") + snippet(hit.snippet_html))
    return 0


def snippet(html: str) -> Text:
    """Turn a snippet with ``<b>`` marks into terminal text."""
    text = Text()
    for index, part in enumerate(re.split(r"</?b>", html)):
        text.append(re.sub(r"\s+", " ", unescape(part)), style="bold yellow" if index % 2 else "")
    return text
