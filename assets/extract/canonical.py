"""The verdict on a declared canonical: where it points, as seen from the page. Recorded, never obeyed by itself."""

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


def canonical_verdict(canonical: str, page_url: str, rules: KeyRules) -> CanonicalVerdict:
    """Judge a declared canonical.

    Args:
        canonical: absolute; empty when the page declares none.
        page_url: the page's address.
        rules: those of the site, which say what spellings are one address.
    """
    if not canonical:
        return CanonicalVerdict.NONE
    if url_key(canonical, rules) == url_key(page_url, rules):
        return CanonicalVerdict.SELF
    host, page_host = host_name(canonical), host_name(page_url)
    if host == page_host:
        return CanonicalVerdict.SAME_HOST
    if registrable_domain(host) == registrable_domain(page_host):
        return CanonicalVerdict.SAME_DOMAIN
    return CanonicalVerdict.OTHER_DOMAIN
