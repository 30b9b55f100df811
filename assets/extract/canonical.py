"""The verdict on a declared canonical: where it points, as seen from the page. Recorded, never obeyed by itself."""

from collections.abc import Sequence
from enum import StrEnum

from assets.url.host import host_name, registrable_domain
from assets.url.key import KeyRules, url_key


class CanonicalVerdict(StrEnum):
    """Where a declared canonical points."""

    NONE = ""
    SELF = "self"  # the page itself, in this or another spelling
    SAME_HOST = "same_host"
    SAME_DOMAIN = "same_domain"  # another host of the registrable domain
    OTHER_DOMAIN = "other_domain"  # whoever controls the page may be moving it, or giving it away
    CONFLICTING = "conflicting"  # it names several pages, in its head or in the header: none of them counts


def canonical_verdict(canonical: str, others: Sequence[str], page_url: str, rules: KeyRules) -> CanonicalVerdict:
    """Judge a declared canonical.

    Args:
        canonical: absolute; empty when the page declares none.
        others: further ones that it declares.
        page_url: the page's address.
        rules: those of the site, which say what spellings are one address.
    """
    if not canonical:
        return CanonicalVerdict.NONE
    key = url_key(canonical, rules)
    if any(url_key(other, rules) != key for other in others):
        return CanonicalVerdict.CONFLICTING
    if key == url_key(page_url, rules):
        return CanonicalVerdict.SELF
    host, page_host = host_name(canonical), host_name(page_url)
    if host == page_host:
        return CanonicalVerdict.SAME_HOST
    if registrable_domain(host) == registrable_domain(page_host):
        return CanonicalVerdict.SAME_DOMAIN
    return CanonicalVerdict.OTHER_DOMAIN
