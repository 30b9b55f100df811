"""The url_key: whether two addresses are one page. Rules that each can be switched off for a site.

Scheme and host in lower case, punycode, no default port and no dot segments come from WHATWG parsing and cannot be
switched off. Evidence (redirects, canonicals, equal content) is not looked at here.
"""

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Self

from assets.url.escapes import normal_escapes
from assets.url.host import without_trailing_dots
from assets.url.parse import encodable, parse, resolve, split_web_address
from resources.errors import BadSettings
from resources.ports import SiteSettings

# A final * matches any rest. Lower case: parameter names are compared without case.
TRACKING_PARAMETERS: Final = (
    "utm_*",
    "mtm_*",
    "pk_*",
    "piwik_*",
    "hsa_*",
    "__hs*",
    "_hsenc",
    "_hsmi",
    "hsctatracking",
    "gclid",
    "gclsrc",
    "dclid",
    "gbraid",
    "wbraid",
    "gad_source",
    "gad_campaignid",
    "_ga",
    "_gl",
    "srsltid",
    "fbclid",
    "fb_action_ids",
    "fb_action_types",
    "fb_source",
    "igshid",
    "igsh",
    "msclkid",
    "yclid",
    "ysclid",
    "_openstat",
    "twclid",
    "ttclid",
    "li_fat_id",
    "epik",
    "mc_cid",
    "mc_eid",
    "mkt_tok",
    "oly_anon_id",
    "oly_enc_id",
    "vero_id",
    "wickedid",
)
SESSION_PARAMETERS: Final = (
    "jsessionid",
    "phpsessid",
    "aspsessionid*",
    "sid",
    "sessid",
    "sessionid",
    "session_id",
    "bv_sessionid",
    "cfid",
    "cftoken",
    "oscsid",
    "zenid",
)
_PATH_SESSION: Final = re.compile(r";(?:jsessionid|phpsessid|sessionid|sid)=[^/;]*", re.IGNORECASE)
_SLASHES: Final = re.compile("//+")
# An address that no rule changes, as nearly all links are: no escape, no ";", no query, no slash too many.
_NORMAL: Final = re.compile(
    r"https?://[a-z0-9.-]*[a-z0-9](?::[0-9]+)?/(?:[A-Za-z0-9\-._~!$&'()*+,=:@]+(?:/[A-Za-z0-9\-._~!$&'()*+,=:@]+)*)?"
)


class KeyRule(StrEnum):
    """What makes two spellings one, beyond WHATWG parsing."""

    TRAILING_DOT = "trailing_dot"  # e.test. is e.test
    PERCENT_ENCODING = "percent_encoding"  # %7e is ~, %2f is %2F, | is %7C
    SESSION_IDS = "session_ids"  # ;jsessionid=, PHPSESSID=, ... go
    COLLAPSE_SLASHES = "collapse_slashes"  # /a//b is /a/b
    TRAILING_SLASH = "trailing_slash"  # /a/ is /a
    EMPTY_PARAMETERS = "empty_parameters"  # /a? is /a, ?b&&c is ?b&c
    TRACKING = "tracking"  # utm_*, gclid, ... go; those that the site names go in any case
    REPEATED_PARAMETERS = "repeated_parameters"  # ?a=1&a=1 is ?a=1
    SORT_QUERY = "sort_query"  # ?b=1&a=2 is ?a=2&b=1; values of one name keep their order


@dataclass(frozen=True, slots=True)
class KeyRules:
    """Which rules count for a site, and which parameters it wants to be ignored besides the built-in ones."""

    off: frozenset[KeyRule] = frozenset()
    tracking_parameters: tuple[str, ...] = ()
    _names: frozenset[str] = field(init=False, repr=False, compare=False)
    _prefixes: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        ignored = [name.lower() for name in self.tracking_parameters]
        ignored += () if KeyRule.TRACKING in self.off else TRACKING_PARAMETERS
        ignored += () if KeyRule.SESSION_IDS in self.off else SESSION_PARAMETERS
        # Worked out once: url_key runs for every link of every page.
        object.__setattr__(self, "_names", frozenset(name for name in ignored if not name.endswith("*")))
        object.__setattr__(self, "_prefixes", tuple(name[:-1] for name in ignored if name.endswith("*")))

    @classmethod
    def of(cls, settings: SiteSettings) -> Self:
        """Give the rules of a site.

        Raises:
            BadSettings: ``key_rules_off`` names a rule that does not exist.
        """
        off = set()
        for name in settings.key_rules_off:
            try:
                off.add(KeyRule(name.lower()))
            except ValueError as error:
                known = ", ".join(KeyRule)
                raise BadSettings(
                    f"site {settings.site!r}: key_rules_off has {name!r}, which is no key rule; use some of: {known}"
                ) from error
        return cls(frozenset(off), settings.tracking_parameters)

    def ignores(self, name: str) -> bool:
        """Say whether a query parameter has no part in the key."""
        name = name.lower()
        return name in self._names or name.startswith(self._prefixes)


DEFAULT_RULES: Final = KeyRules()


def url_key(url: str, rules: KeyRules = DEFAULT_RULES) -> str:
    """Give what decides whether two addresses are one page.

    Idempotent for every string. What is no http(s) address is only serialised; what does not parse stays as it is.

    >>> url_key("HTTP://E.test:80/a//b/?b=2&a=1&utm_source=x#top")
    'http://e.test/a/b?a=1&b=2'
    """
    href = parse(url)
    return encodable(url) if href is None else _key(href, rules)


def resolve_with_key(href: str, base: str, rules: KeyRules = DEFAULT_RULES) -> tuple[str, str] | None:
    """Give the address that a link means, without fragment, and its url_key; None when it is no http(s) address.

    The same as ``resolve`` and ``url_key`` one after the other, but parsed once.

    >>> resolve_with_key("b/?utm_source=x#top", "http://e.test/a/")
    ('http://e.test/a/b/?utm_source=x', 'http://e.test/a/b')
    >>> resolve_with_key("mailto:a@e.test", "http://e.test/")
    """
    url = resolve(href, base)
    return (url, _key(url, rules)) if url and url.startswith(("http://", "https://")) else None


def _key(href: str, rules: KeyRules) -> str:
    """Give the key of an address as ``parse`` and ``resolve`` give it."""
    if _NORMAL.fullmatch(href):
        return href
    parts = split_web_address(href)
    if parts is None:
        return href
    scheme, authority, rest = parts
    off = rules.off
    if (authority[-1] == "." or ".:" in authority) and KeyRule.TRAILING_DOT not in off:
        scheme, authority, rest = split_web_address(without_trailing_dots(href)) or parts
    path, mark, query = rest.partition("?")
    if KeyRule.PERCENT_ENCODING not in off:
        path, query = normal_escapes(path), normal_escapes(query)
    if ";" in path and KeyRule.SESSION_IDS not in off:
        shorter = _PATH_SESSION.sub("", path)
        if shorter != path:
            # "/a/..;sid=1" turns into a dot segment: from the start again, with less.
            return url_key(f"{scheme}://{authority}{shorter}{mark}{query}", rules)
    if "//" in path and KeyRule.COLLAPSE_SLASHES not in off:
        path = _SLASHES.sub("/", path)
    if path[-1] == "/" and KeyRule.TRAILING_SLASH not in off:
        path = path.rstrip("/") or "/"
    if not mark:
        return f"{scheme}://{authority}{path}"
    parameters = _parameters(query, rules)
    return f"{scheme}://{authority}{path}?{'&'.join(parameters)}" if parameters else f"{scheme}://{authority}{path}"


def _parameters(query: str, rules: KeyRules) -> list[str]:
    off = rules.off
    parameters = [parameter for parameter in query.split("&") if not rules.ignores(_name(parameter))]
    if KeyRule.EMPTY_PARAMETERS not in off:
        parameters = [parameter for parameter in parameters if parameter]
    if len(parameters) > 1:
        if KeyRule.REPEATED_PARAMETERS not in off:
            parameters = list(dict.fromkeys(parameters))
        if KeyRule.SORT_QUERY not in off:
            parameters.sort(key=_name)
    return parameters


def _name(parameter: str) -> str:
    return parameter.partition("=")[0]
