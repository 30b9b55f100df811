"""Tree steps: a tree of sections as a flat list, so that no template has to recurse as deep as a stranger's paths."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

OWN_PAGES_MAX: Final = 100  # listed of a section; the rest is in a file
_OPEN_LEVELS: Final = 2
_MOST: Final = 0.8  # of a site's pages
_DEPTH_MAX: Final = 64  # sections within each other that are drawn; browsers flatten what is deeper than some 500


@dataclass(frozen=True, slots=True)
class TreeStep:
    """The begin of a section, or the end of the one that was begun last."""

    is_end: bool
    name: str = ""
    pages: int = 0
    dead: float = 0.0  # share of its addresses
    own: Sequence[tuple[str, str]] = ()  # name and url of pages in it
    more: int = 0  # pages in it that are not listed
    is_open: bool = False


def tree_steps(sections: pa.Table, live: pa.Table) -> Iterator[TreeStep]:
    """Give begins and ends of all sections, in the order of their paths, with their first live pages."""
    own: dict[str, list[tuple[str, str]]] = defaultdict(list)
    ordered = live.select(["section", "url", "title", "in_links"]).sort_by(
        [("in_links", "descending"), ("url", "ascending")]
    )
    for row in ordered.to_pylist():
        own[row["section"]].append((row["title"].strip() or row["url"].rpartition("/")[2] or row["url"], row["url"]))
    open_sections: list[str] = []
    ordered_sections = sections.sort_by("section")
    pages = ordered_sections["pages"][0].as_py() if sections.num_rows else 0
    for row in ordered_sections.to_pylist():
        while open_sections and not row["section"].startswith(open_sections[-1]):
            open_sections.pop()
            yield TreeStep(is_end=True)
        if len(open_sections) >= _DEPTH_MAX:
            continue
        # What parts the site is shown at once, however deep it lies.
        is_open = len(open_sections) < _OPEN_LEVELS or row["pages"] >= _MOST * pages
        yield _begin(row, own[row["section"]], is_open=is_open)
        open_sections.append(row["section"])
    for _ in open_sections:
        yield TreeStep(is_end=True)


def _begin(row: dict[str, Any], pages: list[tuple[str, str]], *, is_open: bool) -> TreeStep:
    name = row["section"].rstrip("/").rpartition("/")[2] + "/"
    return TreeStep(
        is_end=False,
        name=name,
        pages=row["pages"],
        dead=row["dead_share"],
        own=pages[:OWN_PAGES_MAX],
        more=max(len(pages) - OWN_PAGES_MAX, 0),
        is_open=is_open,
    )
