"""Facts of a main text: its headings, and the links and images in it. Read from the chosen part of the outline."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from assets.extract.outline import HEADINGS, PERMALINK, Node

HEADINGS_MAX: Final = 500
LINKS_MAX: Final = 2_000
IMAGES_MAX: Final = 500
_HEADING_CHARACTERS_MAX: Final = 500


@dataclass(frozen=True, slots=True)
class Facts:
    """What is in a main text beside its words, each thing once and in the order of the page."""

    headings: tuple[str, ...] = ()  # with their marks: "## Tides"
    links: tuple[str, ...] = ()  # absolute
    images: tuple[str, ...] = ()  # absolute


NO_FACTS: Final = Facts()


def facts_of(part: Node, resolve: Callable[[str], str | None]) -> Facts:
    """Gather the facts of a part of a page.

    Args:
        resolve: makes a link absolute; None for one that leads nowhere.
    """
    headings: list[str] = []
    links: dict[str, None] = {}
    images: dict[str, None] = {}
    for node in part.walk():
        if node.tag in HEADINGS:
            text = PERMALINK.sub("", node.text())[:_HEADING_CHARACTERS_MAX]
            if text and len(headings) < HEADINGS_MAX:
                headings.append(f"{'#' * int(node.tag[1])} {text}")
        elif node.tag == "a" and len(links) < LINKS_MAX:
            _add(links, node.attributes.get("href"), resolve)
        elif node.tag == "img" and len(images) < IMAGES_MAX:
            _add(images, node.attributes.get("src"), resolve)
    return Facts(tuple(headings), tuple(links), tuple(images))


def _add(found: dict[str, None], href: str | None, resolve: Callable[[str], str | None]) -> None:
    # A mark that links a heading to itself is no link of the text.
    url = resolve(href) if href and not href.startswith("#") else None
    if url and url.startswith(("http://", "https://")):
        found[url] = None
