"""Targets: where the links of one page lead. Each address is worked out once, however often the page names it."""

import re
from typing import Final

from assets.url.key import KeyRules, resolve_with_key
from assets.url.parse import split_web_address

# A path to a file whose every segment any rule lets stand: nearly all links of a page.
_PLAIN: Final = re.compile(
    r"(/|(?:\.\./)*)((?:[A-Za-z0-9\-_~][A-Za-z0-9\-_~.]*/)*[A-Za-z0-9\-_~][A-Za-z0-9\-_~.]*)",
)


class Targets(dict[str, tuple[str, str] | None]):
    """By a link as it is written: url and url_key of where it leads; None for what is no web page but this one.

    >>> Targets("http://e.test/a/b", "http://e.test/a/b", KeyRules())["../c/?x#y"]
    ('http://e.test/c/?x', 'http://e.test/c?x')
    """

    def __init__(self, page_url: str, base: str, rules: KeyRules) -> None:
        """Take the links of a page that start from ``base``."""
        super().__init__()
        self._page_url, self._base, self._rules = page_url, base, rules
        self._place = _plain_place(base, rules)

    def __missing__(self, href: str) -> tuple[str, str] | None:
        bare, mark, _ = href.partition("#")
        # White space before a fragment is part of the address; at the end of a link it is not.
        target = self[bare] if mark and bare[-1:] > " " else self._target(href)
        self[href] = target
        return target

    def _target(self, href: str) -> tuple[str, str] | None:
        plain = _PLAIN.fullmatch(href)
        if plain is None or self._place is None:
            target = resolve_with_key(href, self._base, self._rules)
        else:
            origin, directory = self._place
            up, path = plain.groups()
            if up:
                directory = "" if up == "/" else directory.rsplit("/", len(up) // 3)[0]
            url = f"{origin}{directory}/{path}"
            target = (url, url)
        return None if target is not None and target[0] == self._page_url else target


def _plain_place(base: str, rules: KeyRules) -> tuple[str, str] | None:
    """Give origin and directory of a base whose plain files are each their own key; None for any other."""
    found = resolve_with_key("x", base, rules)
    parts = split_web_address(found[0]) if found is not None and found[0] == found[1] else None
    return (f"{parts[0]}://{parts[1]}", parts[2][: -len("/x")]) if parts is not None else None
