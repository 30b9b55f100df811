"""Hosts: the host key (politeness, robots.txt), the registrable domain (scope), and which names may be a site key."""

import hashlib
import re
import threading
from functools import cache, lru_cache
from importlib.metadata import version
from importlib.resources import files
from typing import Final

from ada_url import URL
from tldextract import TLDExtract

from assets.url.parse import encodable, parse, split_web_address

MAX_HOST_CHARACTERS: Final = 253
# The bundled snapshot only: a public suffix list that changed between two runs would change scopes in between.
_SUFFIXES: Final = TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)
# The list is read at first use, a third of a second long; threads that meet there would each read it.
_READING: Final = threading.Lock()
_PORT: Final = re.compile(r"(?P<host>.*?)(?::(?P<port>[1-9][0-9]{0,4}))?", re.DOTALL)
_BETWEEN_NAMES: Final = re.compile(r"[\s,;]+")
_PLAIN_NAME: Final = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")


def host_key(url: str) -> str:
    """Give scheme, host and port (unless it is the default one) of an address; empty when it has no host.

    >>> host_key("HTTPS://Docs.Example.ORG.:443/a")
    'https://docs.example.org'
    >>> host_key("http://[2001:DB8::1]:8080/")
    'http://[2001:db8::1]:8080'
    """
    parts = _parts(url)
    if parts is None:
        return ""
    scheme, host, port = parts
    return f"{scheme}://{host}:{port}" if port else f"{scheme}://{host}"


def host_name(url: str) -> str:
    """Give the host of an address: no port, no brackets, no trailing dot; empty when it has none.

    >>> host_name("http://0x7f.1:8000/"), host_name("http://[::1]/"), host_name("http://bücher.example/")
    ('127.0.0.1', '::1', 'xn--bcher-kva.example')
    """
    parts = _parts(url)
    return "" if parts is None else parts[1].strip("[]")


def without_trailing_dots(href: str) -> str:
    """Take the trailing dots off the host of a serialised address, where an address is left.

    >>> without_trailing_dots("http://e.test.:8080/a")
    'http://e.test:8080/a'
    """
    parsed = URL(href)
    host = parsed.hostname
    bare = host.rstrip(".")
    if not bare or bare == host:
        return href
    try:
        parsed.hostname = bare
    except ValueError:  # what is left is no host: "1.2.3.999.."
        return href
    return parsed.href


@lru_cache(maxsize=65_536)
def registrable_domain(host: str) -> str:
    """Give the unit of scope: a listed public suffix plus one label; a host without one scopes to itself.

    Such hosts are IP addresses, ``localhost``, public suffixes themselves, and names under a top-level domain that no
    list knows: on a private network two of those are seldom one site.

    Args:
        host: as ``host_name`` gives it.

    >>> registrable_domain("docs.example.co.uk"), registrable_domain("alice.github.io"), registrable_domain("127.0.0.1")
    ('example.co.uk', 'alice.github.io', '127.0.0.1')
    >>> registrable_domain("github.io"), registrable_domain("wiki.corp.internal")
    ('github.io', 'wiki.corp.internal')
    """
    if ":" in host or host.startswith("."):
        return host
    with _READING:
        return _SUFFIXES.extract_str(host).top_domain_under_public_suffix or host


def public_registrable_domain(host: str) -> str | None:
    """Give what could be registered for a host; None for IP addresses, public suffixes and what is no host name.

    A top-level domain that no list knows counts as a public suffix, and a leading dot makes no host name.

    Args:
        host: as ``host_name`` gives it.

    Source: publicsuffix.org/list, the algorithm, whose last rule is ``*``.

    >>> public_registrable_domain("docs.example.co.uk"), public_registrable_domain("a.b.unlisted")
    ('example.co.uk', 'b.unlisted')
    >>> [public_registrable_domain(host) for host in ("co.uk", "127.0.0.1", "::1", "localhost", ".example.org", "")]
    [None, None, None, None, None, None]
    """
    if ":" in host or host.startswith("."):
        return None
    found = _SUFFIXES.extract_str(host)
    if found.suffix or found.ipv4:
        return found.top_domain_under_public_suffix or None
    labels = host.split(".")
    return ".".join(labels[-2:]) if len(labels) > 1 else None


@cache
def suffix_list_version() -> str:
    """Name the public suffix list in use: the package that bundles it, and the start of its SHA-256.

    >>> suffix_list_version().startswith("tldextract ")
    True
    """
    digest = hashlib.sha256(files("tldextract").joinpath(".tld_set_snapshot").read_bytes()).hexdigest()
    return f"tldextract {version('tldextract')} sha256:{digest[:12]}"


def site_key_problem(key: str) -> str:
    """Say in one sentence why a partition key cannot name a site, and what to use instead; empty when it can.

    >>> site_key_problem("docs.example.org"), site_key_problem("127.0.0.1:8000")
    ('', '')
    >>> site_key_problem("https://docs.example.org/")
    "'https://docs.example.org/' is not a site key: use the partition 'docs.example.org'."
    """
    if _is_site_key(key):
        return ""
    meant = sites_meant(key)
    if meant:
        word = "partition" if len(meant) == 1 else "partitions"
        return f"{key!r} is not a site key: use the {word} {', '.join(map(repr, meant))}."
    shown = repr(key) if len(key) <= MAX_HOST_CHARACTERS else repr(key[:60] + "…")
    return (
        f"{shown} is not a site key: use one host name such as 'docs.example.org', optionally with :port, "
        f"of at most {MAX_HOST_CHARACTERS} characters."
    )


def sites_meant(key: str) -> tuple[str, ...]:
    """Give the site keys that somebody meant who typed a partition key that is none; none when that is not clear.

    Several names are only taken for sites when each has a dot: the words of a sentence are none.

    >>> sites_meant("HTTPS://Docs.Example.org/guide"), sites_meant("a.test, https://b.test/"), sites_meant("my site")
    (('docs.example.org',), ('a.test', 'b.test'), ())
    """
    nearest = _nearest_site_key(key)
    if nearest:
        return (nearest,)
    typed = [part for part in _BETWEEN_NAMES.split(key) if part]
    found = [part if _is_site_key(part) else _nearest_site_key(part) for part in typed]
    return tuple(dict.fromkeys(found)) if len(found) > 1 and all("." in one for one in found) else ()


def _parts(url: str) -> tuple[str, str, str] | None:
    """Give scheme, host (IPv6 in brackets) and port."""
    href = parse(url)
    if href is None:
        return None
    web = split_web_address(href)
    if web is None:
        other = URL(without_trailing_dots(href))
        return (other.protocol[:-1], other.hostname, other.port) if other.hostname else None
    scheme, authority, _ = web
    if authority[-1] == "." or ".:" in authority:
        scheme, authority, _ = split_web_address(without_trailing_dots(href)) or web
    authority = authority.rpartition("@")[2]
    if authority[-1] == "]":
        return scheme, authority, ""
    host, colon, port = authority.rpartition(":")
    return (scheme, host, port) if colon else (scheme, port, "")


def _is_site_key(key: str) -> bool:
    match = _PORT.fullmatch(key)
    if match is None or len(key) > MAX_HOST_CHARACTERS or int(match["port"] or 1) > 65_535:
        return False
    host = match["host"]
    parts = _parts(f"http://{host}/")
    if parts is None or parts[1] != host or parts[2]:
        return False
    return host.startswith("[") or _PLAIN_NAME.fullmatch(host) is not None


def _nearest_site_key(key: str) -> str:
    wanted = encodable(key).strip()
    for address in (wanted, f"http://{wanted}"):
        parts = _parts(address)
        if parts is not None:
            nearest = f"{parts[1]}:{parts[2]}" if parts[2] else parts[1]
            if nearest != key and _is_site_key(nearest):
                return nearest
    return ""
