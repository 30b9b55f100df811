"""The address guard: which addresses may be asked.

A host name is looked up once for each new connection (``dns_cache`` may know the answer), the addresses are judged
here, and the connection goes to one that was judged (``http_dialing``). There is no second look-up, so a name that
changes its mind (DNS rebinding) gains nothing.
"""

import ipaddress
from collections.abc import Sequence

from resources.http_failure import NoAnswer
from resources.ports.fetching import FetchFailure

_NOT_GLOBAL_V4 = tuple(
    (ipaddress.IPv4Network(network), reason)
    for network, reason in (
        ("0.0.0.0/8", "this network"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "shared by a carrier"),
        ("127.0.0.0/8", "loopback"),
        ("169.254.0.0/16", "link-local"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "protocol assignments"),
        ("192.0.2.0/24", "documentation"),
        ("192.88.99.0/24", "6to4 relays"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "benchmarks"),
        ("198.51.100.0/24", "documentation"),
        ("203.0.113.0/24", "documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
    )
)
_NOT_GLOBAL_V6 = tuple(
    (ipaddress.IPv6Network(network), reason)
    for network, reason in (
        ("::/128", "unspecified"),
        ("::1/128", "loopback"),
        ("fc00::/7", "unique local"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "site-local"),
        ("ff00::/8", "multicast"),
        ("2001::/23", "protocol assignments"),
        ("2001:db8::/32", "documentation"),
        ("3fff::/20", "documentation"),
    )
)
# (network, bits to the right of the embedded IPv4 address)
_EMBEDDING_V6 = (
    (ipaddress.IPv6Network("::ffff:0:0/96"), 0),  # IPv4-mapped
    (ipaddress.IPv6Network("64:ff9b::/96"), 0),  # NAT64
    (ipaddress.IPv6Network("2002::/16"), 80),  # 6to4
)
_GLOBAL_UNICAST_V6 = ipaddress.IPv6Network("2000::/3")


def forbidden_address(ip: str) -> str:
    """Say why an address must not be asked; empty when it is global unicast.

    An own table, because ``ipaddress.is_global`` gives other answers in other patch releases of Python.

    Source: IANA IPv4 and IPv6 Special-Purpose Address Registries.

    >>> forbidden_address("169.254.169.254")
    'link-local'
    >>> forbidden_address("::ffff:10.0.0.1")
    'private'
    >>> forbidden_address("93.184.215.14")
    ''
    """
    try:
        address = ipaddress.ip_address(ip.partition("%")[0])
    except ValueError:
        return "not an IP address"
    if isinstance(address, ipaddress.IPv4Address):
        return _forbidden_v4(address)
    for network, shift in _EMBEDDING_V6:
        if address in network:
            return _forbidden_v4(ipaddress.IPv4Address(int(address) >> shift & 0xFFFFFFFF))
    for network, reason in _NOT_GLOBAL_V6:
        if address in network:
            return reason
    return "" if address in _GLOBAL_UNICAST_V6 else "reserved"


def _forbidden_v4(address: ipaddress.IPv4Address) -> str:
    return next((reason for network, reason in _NOT_GLOBAL_V4 if address in network), "")


def allowed_addresses(host: str, addresses: Sequence[str]) -> Sequence[str]:
    """Give those addresses of a host that may be asked.

    Raises:
        NoAnswer: there is none; every address is named, and why not.
    """
    reasons = {address: forbidden_address(address) for address in addresses}
    allowed = [address for address in addresses if not reasons[address]]
    if not allowed:
        raise _refusal(host, reasons)
    return allowed


def refuse_forbidden(host: str, addresses: Sequence[str]) -> None:
    """Let a host pass all of whose addresses may be asked, for a connection whose address somebody else picks.

    Raises:
        NoAnswer: one of them must not be asked.
    """
    reasons = {address: reason for address in addresses if (reason := forbidden_address(address))}
    if reasons:
        raise _refusal(host, reasons)


def _refusal(host: str, reasons: dict[str, str]) -> NoAnswer:
    named = ", ".join(f"{address} ({reason})" for address, reason in reasons.items())
    return NoAnswer(FetchFailure.PRIVATE_ADDRESS, f"{host} must not be asked: {named}")
