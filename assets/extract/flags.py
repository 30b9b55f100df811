"""Quality flags: what to think of a page's text. Evidence in, words out."""

import re
from enum import StrEnum
from typing import Final

from lxml import etree

TOO_SHORT_CHARACTERS: Final = 200

_SCRIPT_ROOTS: Final = frozenset(
    {"app", "root", "__next", "__nuxt", "___gatsby", "svelte", "main-app", "app-root", "react-root"}
)
_SCRIPT_ROOT_TAGS: Final = frozenset({"app-root", "ng-app", "my-app"})
_ASKS_FOR_SCRIPT: Final = re.compile(
    r"(?:enable|activate|requires?|needs?|turn on|without|disabled?)\W+(?:\w+\W+){0,4}java\s?script"
    r"|java\s?script\W+(?:\w+\W+){0,6}(?:enable|activate|require|need|disabled|turned)",
    re.IGNORECASE,
)


class Flag(StrEnum):
    """What is wrong with a page's text."""

    NEEDS_JS = "needs_js"  # a shell that scripts would fill
    EMPTY = "empty"  # no text at all
    TOO_SHORT = "too_short"  # some text, under 200 characters
    NOINDEX = "noindex"  # the page asks not to be indexed


def needs_script(tree: etree._Element, visible_text: str) -> bool:
    """Say whether a page is a shell: scripts, hardly any text, and a sign that scripts were to write it.

    Args:
        visible_text: the body's text without ``noscript``.
    """
    if len(visible_text) >= TOO_SHORT_CHARACTERS or next(tree.iter("script"), None) is None:
        return False
    if _ASKS_FOR_SCRIPT.search(visible_text):
        return True
    if any("".join(map(str, element.itertext())).strip() for element in tree.iter("noscript")):
        return True
    return any(
        ((element.get("id") or "").lower() in _SCRIPT_ROOTS or element.tag in _SCRIPT_ROOT_TAGS)
        and not "".join(map(str, element.itertext())).strip()
        for element in tree.iter()
        if isinstance(element.tag, str)
    )


def quality_flags(*, characters: int, shell: bool, robots: tuple[str, ...]) -> list[str]:
    """Give the flags of a page, in a fixed order."""
    flags = []
    if shell:
        flags.append(Flag.NEEDS_JS)
    if characters == 0:
        flags.append(Flag.EMPTY)
    elif characters < TOO_SHORT_CHARACTERS:
        flags.append(Flag.TOO_SHORT)
    if "noindex" in robots or "none" in robots:
        flags.append(Flag.NOINDEX)
    return [str(flag) for flag in flags]
