"""The groups of a robots.txt: which line is whose, and which line decides about an address.

Read by ourselves: Protego 0.7 lets a BOM hide the first line, lets other lines than allow and disallow end a group,
matches agents by substring, takes ``%26`` for ``&``, and cannot say which line decided.
"""

import math
import re
from dataclasses import dataclass, field
from typing import Final

from assets.fetch.robots_rule import RobotsPath, RobotsRule

MAX_CRAWL_DELAY_S: Final = 3600.0
_MAX_LINE_CHARACTERS: Final = 16_663  # as Google's parser: eight times the longest URL of old
_LINE_END: Final = re.compile("\r\n|\r|\n")
# The colon may be missing, names may be misspelt in the ways that are common on the web.
_LINE: Final = re.compile(
    r"""(?:(?P<agent>user[-\ ]?agent)
          |(?P<allow>allow)
          |(?P<disallow>dis?s?all?[oa]w|diasllow)
          |(?P<delay>crawl[-\ ]?delay)
          |(?P<sitemap>site[-\ ]?maps?))
        (?:\s*:|\s)\s*(?P<value>.*)""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_TOKEN: Final = re.compile(r"[A-Za-z_-]+")
_INDEX_PAGE: Final = re.compile(r"/index\.htm[^/]*\Z")


@dataclass(slots=True)
class _Group:
    """Some agents and their rules. Ten thousand agents before ten thousand rules must not become a product."""

    agent_lines: dict[str, str] = field(default_factory=dict)  # agent -> the line that names it
    rules: list[tuple[bool, str, str]] = field(default_factory=list)  # allows, pattern, line


class RobotsGroups:
    """The groups of a robots.txt, merged by agent. Agents are in lower case, ``*`` stands for all others."""

    def __init__(self, text: str) -> None:
        self.sitemaps: list[str] = []
        self._groups: dict[str, list[_Group]] = {}
        self._delays_s: dict[str, list[list[float]]] = {}
        self._rules: dict[str, list[RobotsRule]] = {}  # of the agents that were asked about
        group = _Group()  # only a rule ends the list of its agents
        delays_s: list[float] = []  # of the agents just before: a delay ends their list too
        for raw in _LINE_END.split(text.removeprefix("\ufeff")):
            line = raw[:_MAX_LINE_CHARACTERS].partition("#")[0].strip()
            match = _LINE.match(line)
            if match is None:
                continue
            value = match["value"].strip()
            if match["agent"]:
                if group.rules:
                    group, delays_s = _Group(), []
                elif delays_s:
                    delays_s = []
                agent = _agent_of_line(value)
                if agent not in group.agent_lines:
                    group.agent_lines[agent] = line
                    self._groups.setdefault(agent, []).append(group)
                # An agent that is named twice before one delay has it once.
                delays = self._delays_s.setdefault(agent, [])
                if not delays or delays[-1] is not delays_s:
                    delays.append(delays_s)
            elif match["allow"] or match["disallow"]:
                # An empty rule ends the list of agents as well; it matches nothing.
                group.rules.append((match["allow"] is not None, value, line))
            elif match["delay"]:
                delays_s.append(_delay_s(value))
            elif value:
                self.sitemaps.append(value)

    def crawl_delay_s(self, agent: str) -> float | None:
        """Give the largest valid delay of the groups of an agent."""
        delays_s = [delay_s for group in self._delays_s.get(self._name(agent), ()) for delay_s in group]
        return max((delay_s for delay_s in delays_s if not math.isnan(delay_s)), default=None)

    def deciding(self, path: RobotsPath, agent: str) -> RobotsRule | None:
        """Give the rule for an agent, or else for all others, that decides about a path; None when none is about it.

        Source: RFC 9309, 2.2.2: the longest pattern that fits; of equals, the one that allows.
        """
        name = self._name(agent)
        if name not in self._rules:
            self._rules[name] = self._ordered(name)
        return next((rule for rule in self._rules[name] if rule.speaks_of(path)), None)

    def _ordered(self, name: str) -> list[RobotsRule]:
        rules: dict[tuple[bool, str], RobotsRule] = {}
        for group in self._groups.get(name, ()):
            for allows, value, line in group.rules:
                patterns = [value] if value else []
                # As Google: whoever allows the index page of a folder means the folder's own address too.
                if allows and _INDEX_PAGE.search(value):
                    patterns.append(value[: value.rindex("/") + 1] + "$")
                for pattern in patterns:
                    if (allows, pattern) not in rules:
                        rules[allows, pattern] = RobotsRule.of(
                            allows=allows, pattern=pattern, line=line, agent_line=group.agent_lines[name]
                        )
        return sorted(rules.values(), key=lambda rule: (-rule.octets, not rule.allows))

    def _name(self, agent: str) -> str:
        name = agent.partition("/")[0].strip().lower()
        return name if name in self._groups else "*"


def _agent_of_line(value: str) -> str:
    if value == "*" or value[:2] in ("* ", "*\t"):
        return "*"
    # RFC 9309, 2.2.1: a product token, without version and what else may follow.
    token = _TOKEN.match(value)
    return token[0].lower() if token else ""


def _delay_s(value: str) -> float:
    """Read a delay; what is none is not a number."""
    try:
        delay_s = float(value)
    except ValueError:
        return math.nan
    return min(delay_s, MAX_CRAWL_DELAY_S) if math.isfinite(delay_s) and delay_s >= 0 else math.nan
