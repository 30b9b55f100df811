"""Hypothesis strategies for what the web sends: addresses first, plain ones and hostile ones."""

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

_SCHEMES = ("http", "https", "HTTP", "ftp", "file", "mailto", "javascript", "x-unknown")
_HOSTS = (
    "e.test",
    "E.TEST.",
    "e.test..",
    "docs.example.co.uk",
    "bücher.example",
    "xn--bcher-kva.example",
    "e。test",
    "127.0.0.1",
    "0x7f.1",
    "1.2.3.4..",
    "1.2.3.999..",
    "0x1..",
    "[2001:DB8::1]",
    "[::ffff:10.0.0.1]",
    "user:pa.:ss@e.test.",
    "...",
    "",
)
_PIECES = (
    *(
        "/",
        "//",
        "/.",
        "/..",
        "/%2e%2E",
        "..",
        "%",
        "%2",
        "%25",
        "%2f",
        "%7e",
        "%u0131",
        "%zz",
        "%c3%bc",
        "a",
        "B",
        "ü",
    ),
    *(" ", "\t", "\n", "|", "\\", "'", '"', "<", "^", "`", "{", "[", "]", "*", "$", ";", ":", "@", "+", ",", "!", "~"),
    *(";jsessionid=1", "/..;sid=2", ";SID=", "%3bsid=3", "\u2028", "\ud800", "\x00", "\x7f", "☃", "index.html", ".pdf"),
)
_QUERY_PIECES = (
    *("&", "&&", "=", "?", "a=1", "a=2", "a", "b=", "utm_source=x", "UTM%5fmedium=y", "gclid=", "PHPSESSID=9", "sid=1"),
    *("%26", "%3d", "q=a|b c", "ü", "'", "[]", "+", "%"),
)


def plain_links() -> SearchStrategy[str]:
    """Make what most links are: short relative paths, addresses of pages; and what only looks like one of these."""
    path = st.text("aZ0-_~./", max_size=8)
    rest = st.sampled_from(("", "", "#top", "# \n", "?", "?p=2", "?a=b&c='", "?/../x#y", ";v=1", ":80", "%2e", " "))
    place = st.sampled_from(
        ("", "", "/", "../", "../../", "http://e.test/", "https://e.test:8080/", "http://e.test./", "http://1.2.3")
    )
    return st.builds(lambda place, path, rest: f"{place}{path}{rest}", place, path, rest)


def urls() -> SearchStrategy[str]:
    """Make addresses: most parse, some do not; every rule of the url_key has something to do."""
    path = st.lists(st.sampled_from(_PIECES), max_size=8).map("".join)
    query = st.lists(st.sampled_from(_QUERY_PIECES), max_size=8).map("".join)
    return st.builds(
        lambda scheme, host, port, path, query, fragment: f"{scheme}://{host}{port}{path}{query}{fragment}",
        st.sampled_from(_SCHEMES),
        st.sampled_from(_HOSTS),
        st.sampled_from(("", "", "/", ":80/", ":443", ":8080", ":99999", ":")),
        path,
        st.one_of(st.just(""), query.map("?{}".format)),
        st.sampled_from(("", "", "#top", "#")),
    )
