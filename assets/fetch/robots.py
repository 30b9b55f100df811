"""robots.txt: what an answer means before it is read, and what its text allows. Fetching and caching it is not here."""

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Self

from assets.fetch.robots_groups import RobotsGroups
from assets.fetch.robots_rule import RobotsPath
from assets.url.parse import resolve, split_web_address

MAX_ROBOTS_BYTES: Final = 500 * 1024  # RFC 9309, 2.5
# Comments alone are no HTML: some put their version there and go on with rules.
_HTML: Final = re.compile(
    rb"(?>\s*<!--.*?-->)*\s*<(?:!doctype|html|head|body|meta|title|script|\?xml)", re.IGNORECASE | re.DOTALL
)
_HTML_INSIDE: Final = re.compile(rb"<(?:!doctype|html|body)", re.IGNORECASE)
_UNDECODED: Final = re.compile("[\udc80-\udcff]")


class RobotsVerdict(StrEnum):
    """What an answer means before its text is read."""

    READ_RULES = "read_rules"  # the file's rules decide
    ALLOW_ALL = "allow_all"  # there is none: everything may be asked
    DISALLOW_ALL = "disallow_all"  # it cannot be had: nothing may be asked


def robots_verdict(status: int | None) -> RobotsVerdict:
    """Say what a robots.txt answer means before its text is read.

    Args:
        status: of the last hop; None when there was no answer.

    Source: RFC 9309, 2.3.1. An unreachable file forbids everything.
    """
    # 429 is our own strictness: the RFC would let us in, the host asked us to slow down. A 304 that confirms a copy is
    # not judged here; any other says nothing.
    if status is None or status in (304, 429) or status >= 500:
        return RobotsVerdict.DISALLOW_ALL
    return RobotsVerdict.READ_RULES if status < 300 else RobotsVerdict.ALLOW_ALL


@dataclass(frozen=True, slots=True)
class RobotsDecision:
    """Whether an address may be asked for, and what decided that."""

    allowed: bool
    reason: str  # what decided the verdict on the whole file
    line: str = ""  # the line that decided, such as "Disallow: /private/"; empty when none is about the address
    group: str = ""  # the line of its group that names the agent, such as "User-agent: *"


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """What a host allows, and what decided it."""

    verdict: RobotsVerdict
    reason: str  # robots_200, robots_404, robots_html, robots_unreachable, ...
    body: str  # the text that was read; empty unless the verdict is READ_RULES
    crawl_delay_s: float | None  # for the agent that the rules were read for
    sitemaps: tuple[str, ...]  # absolute
    _groups: RobotsGroups = field(repr=False, compare=False)

    @classmethod
    def from_text(cls, verdict: str, reason: str, body: str, url: str, agent: str) -> Self:
        """Build the rules anew from what a table keeps of them.

        Args:
            verdict: a ``RobotsVerdict``.
            reason: what decided the verdict.
            body: the text as it was read.
            url: of the robots.txt, after redirects.
            agent: product token, or a whole User-Agent header that starts with one.
        """
        groups = RobotsGroups(body)
        sitemaps = dict.fromkeys(href for line in groups.sitemaps if (href := resolve(line, url)))
        return cls(RobotsVerdict(verdict), reason, body, groups.crawl_delay_s(agent), tuple(sitemaps), groups)

    def allows(self, url: str, agent: str) -> bool:
        """Say whether an agent may ask for an address of this host; a path alone will do."""
        return self.decision(url, agent).allowed

    def decision(self, url: str, agent: str) -> RobotsDecision:
        """Say whether an agent may ask for an address of this host, and which line decided; a path alone will do.

        The robots.txt itself may always be asked for. What is no http(s) address is never allowed.

        >>> rules = read_robots(200, b"User-agent: *\\nDisallow: /p", "http://e.test/robots.txt", "any")
        >>> rules.decision("http://e.test/p/q", "any").line
        'Disallow: /p'
        """
        href = resolve(url, "http://h/")
        parts = split_web_address(href) if href else None
        if parts is None:
            return RobotsDecision(False, "no_web_address")
        path = parts[2]
        if path == "/robots.txt" or self.verdict is not RobotsVerdict.READ_RULES:
            return RobotsDecision(path == "/robots.txt" or self.verdict is RobotsVerdict.ALLOW_ALL, self.reason)
        rule = self._groups.deciding(RobotsPath.of(path, url), agent)
        if rule is None:
            return RobotsDecision(True, self.reason)
        return RobotsDecision(rule.allows, self.reason, rule.line, rule.agent_line)


def read_robots(status: int | None, body: bytes, url: str, agent: str, content_type: str | None = None) -> RobotsRules:
    """Read a robots.txt answer.

    Args:
        status: of the last hop; None when there was no answer.
        body: content encoding removed; only that of a success is looked at.
        url: of the last hop.
        agent: product token, or a whole User-Agent header that starts with one.
        content_type: as sent.
    """
    verdict = robots_verdict(status)
    if verdict is RobotsVerdict.DISALLOW_ALL:
        return RobotsRules.from_text(verdict, "robots_unreachable", "", url, agent)
    if verdict is RobotsVerdict.ALLOW_ALL:
        return RobotsRules.from_text(verdict, f"robots_{status}", "", url, agent)
    if _is_html(body, content_type):
        return RobotsRules.from_text(RobotsVerdict.ALLOW_ALL, "robots_html", "", url, agent)
    return RobotsRules.from_text(verdict, f"robots_{status}", _decoded(_whole_lines(body)), url, agent)


def _is_html(body: bytes, content_type: str | None) -> bool:
    start = body.removeprefix(b"\xef\xbb\xbf")[:1024]
    if _HTML.match(start):
        return True
    # Many honest files are sent as text/html: the type alone says nothing.
    return "html" in (content_type or "").lower() and _HTML_INSIDE.search(start) is not None


def _whole_lines(body: bytes) -> bytes:
    """Cut a body to what must be read, at a line end: half of a rule is another rule."""
    if len(body) <= MAX_ROBOTS_BYTES or body[MAX_ROBOTS_BYTES] in b"\r\n":
        return body[:MAX_ROBOTS_BYTES]
    read = body[:MAX_ROBOTS_BYTES]
    return read[: max(read.rfind(b"\n"), read.rfind(b"\r")) + 1]


def _decoded(body: bytes) -> str:
    text = body.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    # Octets that are no UTF-8 are kept as escapes: in a path they mean the same, and tables hold only text.
    return _UNDECODED.sub(lambda octet: f"%{ord(octet[0]) - 0xDC00:02X}", text)
