"""Path segments that look like session ids: what stands before one and after it. What is too many is for ``traps``."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_MIN_TOKEN_CHARACTERS: Final = 16
_MIN_TURNS: Final = 4  # from letter to digit or back: words with numbers, such as mp4-to-h264, have fewer

# ASP.NET without cookies: (S(...)), (A(...)F(...)).
_CALLS: Final = re.compile(r"\((?:[A-Za-z]\([^()]*\))+\)")
_NAMED: Final = re.compile(r"(?:(?:php|asp|j)?sess(?:ion)?_?(?:id)?|sid)[-_=:.~]([A-Za-z0-9_-]{16,})", re.IGNORECASE)
_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_RANDOM: Final = re.compile(r"[A-Za-z0-9_-]+={0,2}")
_TURN: Final = re.compile(r"(?<=[A-Za-z])[0-9]|(?<=[0-9])[A-Za-z]")


@dataclass(frozen=True, slots=True)
class SessionSegment:
    """A segment that looks like a session id, by what surrounds it."""

    before: str  # the address up to the segment
    after: str  # what follows it: a path that is not empty, and the query
    named: bool  # it says that it is a session id; others may be a commit, a digest or a UUID

    @property
    def place(self) -> tuple[str, bool]:
        """Give what the segments of one kind at one place have in common."""
        return self.before, self.named


def session_segments(key: str) -> Iterator[SessionSegment]:
    """Give the segments of an address that look like session ids and have a path behind them.

    Args:
        key: a url_key.

    >>> [segment.after for segment in session_segments("http://e.test/s/(S(lit3py55t21z5v55))/shop/a?b")]
    ['/shop/a?b']
    >>> list(session_segments("http://e.test/commit/4f0c7a2be19d3c5f8a6b7d0e1c2f3a4b5c6d7e8f"))
    []
    """
    address, mark, query = key.partition("?")
    start = address.find("/", address.find("://") + 3)
    while 0 <= start < (end := address.find("/", start + 1)):
        segment = address[start + 1 : end]
        named = is_named_session(segment)
        if named or is_random(segment):
            yield SessionSegment(address[: start + 1], address[end:] + mark + query, named)
        start = end


def is_named_session(segment: str) -> bool:
    """Say whether a path segment calls itself a session id.

    >>> is_named_session("sid-9f86d081884c7d65"), is_named_session("session-20240131")
    (True, False)
    """
    if _CALLS.fullmatch(segment):
        return True
    match = _NAMED.fullmatch(segment)
    return match is not None and any(character.isdigit() for character in match[1])


def is_random(segment: str) -> bool:
    """Say whether a path segment looks like a random number in hexadecimal or base64, or is a UUID.

    >>> is_random("9f86d081884c7d659a2feaa0c55ad015"), is_random("how-to-use-mp4-and-h264-in-2024")
    (True, False)
    """
    if len(segment) < _MIN_TOKEN_CHARACTERS or not _RANDOM.fullmatch(segment):
        return False
    return _UUID.fullmatch(segment) is not None or len(_TURN.findall(segment)) >= _MIN_TURNS
