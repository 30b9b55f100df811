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
    BOILERPLATE_ONLY = "boilerplate_only"  # nothing but navigation, headers, footers and forms
    SOFT_404 = "soft_404"  # what the site says where there is no page
    NOINDEX = "noindex"  # the page asks not to be indexed


def needs_script(tree: etree._Element, visible_text: str) -> str:
    """Say by what sign a page is a shell that scripts were to fill; empty when it is none.

    Args:
        visible_text: the body's text without ``noscript``.
    """
    if len(visible_text) >= TOO_SHORT_CHARACTERS or next(tree.iter("script"), None) is None:
        return ""
    asks = _ASKS_FOR_SCRIPT.search(visible_text)
    if asks:
        return f'it says "{" ".join(asks[0].split())}"'
    if any("".join(map(str, element.itertext())).strip() for element in tree.iter("noscript")):
        return "hardly any text but in noscript"
    is_shell = any(
        ((element.get("id") or "").lower() in _SCRIPT_ROOTS or element.tag in _SCRIPT_ROOT_TAGS)
        and not "".join(map(str, element.itertext())).strip()
        for element in tree.iter()
        if isinstance(element.tag, str)
    )
    return "the root of an application is empty" if is_shell else ""


def quality_flags(*, characters: int, shell: str, robots: tuple[str, ...], boilerplate: bool = False) -> dict[str, str]:
    """Give the flags of a page in a fixed order, each with what speaks for it.

    Args:
        shell: by what sign the page needs scripts; empty when it does not.
        boilerplate: the text is what stands in furniture, since there is no other.
    """
    flags: dict[Flag, str] = {}
    if shell:
        flags[Flag.NEEDS_JS] = shell
    if characters == 0:
        flags[Flag.EMPTY] = "no text"
    elif characters < TOO_SHORT_CHARACTERS:
        flags[Flag.TOO_SHORT] = f"{characters} characters"
    if boilerplate and characters:
        flags[Flag.BOILERPLATE_ONLY] = "all text is in navigation, headers, footers or forms"
    asked = [word for word in robots if word in ("noindex", "none")]
    if asked:
        flags[Flag.NOINDEX] = f"robots: {', '.join(asked)}"
    return {flag.value: evidence for flag, evidence in flags.items()}
