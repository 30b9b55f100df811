"""robots.txt: what an answer means before it is read, and what its text allows. Fetching and caching it is not here.

Protego matches paths. What comes before that is ours, for Protego 0.7 lets a BOM hide the first line, lets other lines
than allow and disallow end a group, matches agents by substring, and takes ``%26`` for ``&``.
"""

import math
import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Self, TypeVar

from protego import Protego

from assets.url.escapes import normal_escapes
from assets.url.parse import resolve, split_web_address

MAX_ROBOTS_BYTES: Final = 500 * 1024  # RFC 9309, 2.5
MAX_CRAWL_DELAY_S: Final = 3600.0
_MAX_LINE_CHARACTERS: Final = 16_663  # as Google's parser: eight times the longest URL of old
_LINE_END: Final = re.compile("\r\n|\r|\n")
# The colon may be missing, names may be misspelt in the ways that are common on the web.
_LINE: Final = re.compile(
    r"""\s*(?:(?P<agent>user[-\ ]?agent)
            |(?P<allow>allow)
            |(?P<disallow>dis?s?all?[oa]w|diasllow)
            |(?P<delay>crawl[-\ ]?delay)
            |(?P<sitemap>site[-\ ]?maps?))
        (?:\s*:|\s)\s*(?P<value>.*)""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_TOKEN: Final = re.compile(r"[A-Za-z_-]+")
# Comments alone are no HTML: some put their version there and go on with rules.
_HTML: Final = re.compile(
    rb"(?>\s*<!--.*?-->)*\s*<(?:!doctype|html|head|body|meta|title|script|\?xml)", re.IGNORECASE | re.DOTALL
)
_HTML_INSIDE: Final = re.compile(rb"<(?:!doctype|html|body)", re.IGNORECASE)
_Line = TypeVar("_Line")
_UNDECODED: Final = re.compile("[\udc80-\udcff]")


class RobotsVerdict(StrEnum):
    """What an answer means before its text is read."""

    READ_RULES = "read_rules"
    ALLOW_ALL = "allow_all"
    DISALLOW_ALL = "disallow_all"


def robots_verdict(status: int | None) -> RobotsVerdict:
    """Say what a robots.txt answer means before its text is read.

    Args:
        status: of the last hop; None when there was no answer.

    Source: RFC 9309, 2.3.1. An unreachable file forbids everything.
    """
    # 429 is our own strictness: the RFC would let us in, the host asked us to slow down.
    if status is None or status == 429 or status >= 500:
        return RobotsVerdict.DISALLOW_ALL
    return RobotsVerdict.READ_RULES if status < 300 else RobotsVerdict.ALLOW_ALL


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """What a host allows, and what decided it."""

    verdict: RobotsVerdict
    reason: str  # robots_200, robots_404, robots_html, robots_unreachable, ...
    body: str  # the text that was read; empty unless the verdict is READ_RULES
    crawl_delay_s: float | None  # for the agent that the rules were read for
    sitemaps: tuple[str, ...]  # absolute
    _groups: "_Groups" = field(repr=False, compare=False)

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
        groups = _Groups(body)
        sitemaps = dict.fromkeys(href for line in groups.sitemaps if (href := resolve(line, url)))
        return cls(RobotsVerdict(verdict), reason, body, groups.crawl_delay_s(agent), tuple(sitemaps), groups)

    def allows(self, url: str, agent: str) -> bool:
        """Say whether an agent may ask for an address of this host; a path alone will do.

        The robots.txt itself may always be asked for. What is no http(s) address is never allowed.
        """
        href = resolve(url, "http://h/")
        parts = split_web_address(href) if href else None
        if parts is None:
            return False
        path = parts[2]
        if path == "/robots.txt" or self.verdict is RobotsVerdict.ALLOW_ALL:
            return True
        return self.verdict is RobotsVerdict.READ_RULES and self._groups.allows(path, agent)


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


class _Groups:
    """The groups of a robots.txt, merged by agent.

    Agents share the lists of their groups: ten thousand agents before ten thousand rules must not become a product.
    """

    def __init__(self, text: str) -> None:
        self.sitemaps: list[str] = []
        self._rules: dict[str, list[list[str]]] = {}  # by agent in lower case, * for all others
        self._delays_s: dict[str, list[list[float]]] = {}
        self._matchers: dict[str, Protego] = {}
        rules: list[str] = []  # of the group: only a rule ends the list of its agents
        delays_s: list[float] = []  # of the agents just before: a delay ends their list too
        for line in _LINE_END.split(text.removeprefix("\ufeff")):
            match = _LINE.match(line[:_MAX_LINE_CHARACTERS].partition("#")[0].strip())
            if match is None:
                continue
            value = match["value"].strip()
            if match["agent"]:
                if rules:
                    rules, delays_s = [], []
                elif delays_s:
                    delays_s = []
                agent = _agent_of_line(value)
                _join(self._rules.setdefault(agent, []), rules)
                _join(self._delays_s.setdefault(agent, []), delays_s)
            elif match["allow"] or match["disallow"]:
                # An empty rule ends the list of agents as well; it matches nothing.
                rules.append(f"{'Allow' if match['allow'] else 'Disallow'}: {_opaque(value)}")
            elif match["delay"]:
                delays_s.append(_delay_s(value))
            elif value:
                self.sitemaps.append(value)

    def crawl_delay_s(self, agent: str) -> float | None:
        """Give the largest valid delay of the groups of an agent."""
        delays_s = [delay_s for group in self._delays_s.get(self._group(agent), ()) for delay_s in group]
        return max((delay_s for delay_s in delays_s if not math.isnan(delay_s)), default=None)

    def allows(self, path: str, agent: str) -> bool:
        """Say what the rules for an agent, or else those for all, say about a path with its query."""
        name = self._group(agent)
        if name not in self._matchers:
            lines = [rule for group in self._rules.get(name, ()) for rule in group]
            self._matchers[name] = Protego.parse("\n".join(["User-agent: *", *lines]))
        # With a host in front, for a path such as //x would be read as one.
        return self._matchers[name].can_fetch(f"http://h{_opaque(path)}", "*")

    def _group(self, agent: str) -> str:
        name = agent.partition("/")[0].strip().lower()
        return name if name in self._rules else "*"


def _agent_of_line(value: str) -> str:
    if value == "*" or value[:2] in ("* ", "*\t"):
        return "*"
    # RFC 9309, 2.2.1: a product token, without version and what else may follow.
    token = _TOKEN.match(value)
    return token[0].lower() if token else ""


def _join(groups: list[list[_Line]], group: list[_Line]) -> None:
    # An agent that is named twice in one group is in it once.
    if not groups or groups[-1] is not group:
        groups.append(group)


def _delay_s(value: str) -> float:
    """Read a delay; what is none is not a number."""
    try:
        delay_s = float(value)
    except ValueError:
        return math.nan
    return min(delay_s, MAX_CRAWL_DELAY_S) if math.isfinite(delay_s) and delay_s >= 0 else math.nan


def _opaque(path: str) -> str:
    """Normalise escapes as RFC 9309, 2.2.2 says, then hide them from Protego, which would decode reserved ones too."""
    return normal_escapes(path).replace("%", "%25")
