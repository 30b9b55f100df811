"""Where our url_key differs from the rules of others on purpose: cases by id with the reason, and disputed inputs."""

from enum import StrEnum
from typing import Final


class Reason(StrEnum):
    """Why ours is another key than that of ``crawler-commons.basic``."""

    TRAILING_SLASH = "A path with a trailing slash and one without are one page until evidence says otherwise."
    NO_ADDRESS = "WHATWG parsing refuses it, and what is no address stays as it is."
    NO_WEB_ADDRESS = "What is neither http nor https is serialised as WHATWG says, and no rule of ours touches it."
    EMPTY_VALUE = "An empty value and no value may mean different things to a server: both spellings stay."
    NAMELESS_PARAMETER = "A parameter without a name is still sent, and a server may read it."
    MAPPED_ADDRESS = "WHATWG writes every part of an IPv6 address in hexadecimal, the one that holds IPv4 too."
    CREDENTIALS = "What is asked with a user and a password may be another page than what is asked without."
    PUNYCODE = "A host has one spelling, punycode, whatever options others have for it."


# Cases of ``crawler-commons.basic`` in pairs.jsonl, by id.
CRAWLER_COMMONS: Final = {
    "u0405": Reason.TRAILING_SLASH,
    "u0406": Reason.TRAILING_SLASH,
    "u0437": Reason.TRAILING_SLASH,
    "u0460": Reason.NO_ADDRESS,
    "u0461": Reason.NO_ADDRESS,
    "u0467": Reason.NO_ADDRESS,
    "u0480": Reason.NO_ADDRESS,
    "u0482": Reason.NO_WEB_ADDRESS,
    "u0484": Reason.NO_WEB_ADDRESS,
    "u0485": Reason.NO_WEB_ADDRESS,
    "u0493": Reason.EMPTY_VALUE,
    "u0496": Reason.EMPTY_VALUE,
    "u0499": Reason.NAMELESS_PARAMETER,
    "u0500": Reason.NAMELESS_PARAMETER,
    "u0534": Reason.TRAILING_SLASH,
    "u0535": Reason.TRAILING_SLASH,
    "u0543": Reason.MAPPED_ADDRESS,
    "u0545": Reason.CREDENTIALS,
    "u0554": Reason.PUNYCODE,
    "u0555": Reason.PUNYCODE,
    "u0556": Reason.PUNYCODE,
}

_NESTED: Final = (
    "http://www.example.com/path/to/%23/foo/bar?url=http%3A%2F%2Fwww.example.com%2F%2Fpath%2Fto%2F%23%2Fbar%2Ffoo"
)
# Inputs on which others disagree among themselves (conflicts.jsonl), with our key; docs/url_keys.md says why.
DISPUTED: Final = {
    " https://example.com ": "https://example.com/",
    "http://[::1]": "http://[::1]/",
    "http://はじめよう.みんな/?query=サ&maxResults=5": (
        "http://xn--p8j9a0d9c9a.xn--q9jyb4c/?maxResults=5&query=%E3%82%B5"
    ),
    "http://www.example.com/path/to/%23/foo/bar#frag": "http://www.example.com/path/to/%23/foo/bar",
    f"{_NESTED}#frag": _NESTED,
    "http://bücher.de/": "http://xn--bcher-kva.de/",
    "https://www.0251-sachverst%c3%a4ndiger.de/": "https://www.xn--0251-sachverstndiger-ozb.de/",
    "Http://example.com": "http://example.com/",
    "HTTP://example.com": "http://example.com/",
    "ftP://example.com": "ftp://example.com/",
    "": "",
    "http://test.org/?s_cid=123&clickid=1": "http://test.org/?clickid=1&s_cid=123",
    "http://test.org/#partnerid=123": "http://test.org/",
}
