"""One rule of a robots.txt: whether its pattern speaks of an address. Which rules apply to whom is not here.

Two spellings are compared. RFC 9309, 2.2.2 wants escapes normalised first; Google's parser compares them as they are
written. A disallow rule counts when the normalised spellings fit; an allow rule must fit as written as well. Where the
two readings differ, nothing is fetched.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Self

from assets.url.escapes import normal_escapes

_ESCAPE: Final = re.compile("(%[0-9A-Fa-f]{2})")
_SCHEME_AND_HOST: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*")


@dataclass(frozen=True, slots=True)
class RobotsPath:
    """The path of an address, with its query, in both spellings."""

    normal: str
    written: str

    @classmethod
    def of(cls, path: str, asked: str) -> Self:
        """Spell a path.

        Args:
            path: as the serialised address has it.
            asked: the address as the caller gave it. One that is not ASCII was not serialised: nobody can be asked for
                it as it is written, so that no escape in an allow rule can mean it.
        """
        written = _upper_escapes(path) if asked.isascii() else _SCHEME_AND_HOST.sub("", asked.strip(), count=1)
        return cls(_literal_specials(normal_escapes(path)), written)


@dataclass(frozen=True, slots=True)
class _Pattern:
    """A path pattern, cut at its wildcards."""

    start: str
    middle: tuple[str, ...]  # follow the start in this order, with anything between them
    end: str | None = None  # what the path ends with, when the pattern is anchored there
    is_whole: bool = False  # anchored and without a wildcard: the start is all there may be

    @classmethod
    def of(cls, text: str, literal: Callable[[str], str]) -> Self:
        anchored = text.endswith("$")
        start, *pieces = (literal(piece) for piece in text.removesuffix("$").split("*"))
        end = pieces.pop() if anchored and pieces else None
        return cls(start, tuple(filter(None, pieces)), end, is_whole=anchored and end is None)

    def fits(self, path: str) -> bool:
        """Say whether the pattern fits a path, in time linear in both.

        The leftmost place of each piece leaves the most room for the next one, so that no choice is taken back.
        """
        if self.is_whole or not path.startswith(self.start):
            return path == self.start
        at = len(self.start)
        for piece in self.middle:
            at = path.find(piece, at)
            if at < 0:
                return False
            at += len(piece)
        return self.end is None or (len(path) - len(self.end) >= at and path.endswith(self.end))


@dataclass(frozen=True, slots=True)
class RobotsRule:
    """An allow or disallow line, as it applies to one agent."""

    allows: bool
    line: str  # as in the file, without its comment
    agent_line: str  # the line of its group that names the agent
    octets: int  # of its pattern: the longest one that fits decides
    _normal: _Pattern
    _written: _Pattern | None  # of an allow rule

    @classmethod
    def of(cls, *, allows: bool, pattern: str, line: str, agent_line: str) -> Self:
        """Read a rule whose pattern is not empty."""
        written = _upper_escapes(pattern)
        normal = _Pattern.of(normal_escapes(pattern), _literal_specials)
        return cls(allows, line, agent_line, len(written), normal, _Pattern.of(written, str) if allows else None)

    def speaks_of(self, path: RobotsPath) -> bool:
        """Say whether the rule is about a path."""
        return self._normal.fits(path.normal) and (self._written is None or self._written.fits(path.written))


def _literal_specials(text: str) -> str:
    """Escape what has a meaning in patterns, so that ``%2A`` in a rule fits a star in an address (RFC 9309, 2.2.3)."""
    return text.replace("*", "%2A").replace("$", "%24")


def _upper_escapes(text: str) -> str:
    """Escape what no address may hold, write escapes in upper case, and decode none.

    >>> _upper_escapes("/%7ejoe/a b/50%")
    '/%7Ejoe/a%20b/50%25'
    """
    pieces = _ESCAPE.split(text)
    pieces[::2] = map(normal_escapes, pieces[::2])
    pieces[1::2] = map(str.upper, pieces[1::2])
    return "".join(pieces)
