"""Keys of CDXJ lines: what pywb would ask for. Each was compared with pywb 2.10."""

import pytest
from hypothesis import assume, given

from assets.url.parse import parse
from assets.warc.surt import surt
from tests.support.strategies import urls


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://www.Example.org/", "org,example)/"),
        ("http://www2.example.org/a", "org,example)/a"),
        ("http://wwwx.test/", "test,wwwx)/"),
        ("http://e.test./a", "test,e)/a"),
        ("http://bücher.example/", "example,xn--bcher-kva)/"),
        ("https://example.org:8443/A/?b=2&a=1", "org,example:8443)/a?a=1&b=2"),
        ("https://e.test:443/", "test,e)/"),
        ("http://127.0.0.1:8080/x", "1,0,0,127:8080)/x"),
        ("http://[2001:db8::1]/a", "2001:db8::1)/a"),
        ("http://user:pw@e.test/#top", "test,e)/"),
        ("http://e.test/a//b/", "test,e)/a/b"),
        ("http://e.test//", "test,e)/"),
        ("http://e.test/%7Ea/%2520b%2fc", "test,e)/~a/%20b/c"),
        ("http://e.test/100%25", "test,e)/100%25"),
        ("http://e.test/€?€", "test,e)/%e2%82%ac?%e2%82%ac"),
        ("http://e.test/a?", "test,e)/a"),
        ("http://e.test/a?b=&a", "test,e)/a?a&b="),
        ("http://e.test/a?x=1&x-y=2&x=0", "test,e)/a?x=0&x=1&x-y=2"),
        ("http://e.test/?b=1&B=0&a=%2F", "test,e)/?a=/&b=0&b=1"),
        ("http://e.test/?q=a%26b=1&A", "test,e)/?a&b=1&q=a"),
        (f"http://e.test/a?sid={'0123456789abcdef' * 2}&x=1", "test,e)/a?x=1"),
        (f"http://e.test/a?PHPSESSID={'0123456789ABCDEF' * 2}", "test,e)/a"),
        ("http://e.test/?CFID=12&CFTOKEN=34&x=1", "test,e)/?x=1"),
        ("http://e.test/(a(0123456789abcdefghijklmn))/x.aspx?y=1", "test,e)/x.aspx?y=1"),
    ],
)
def test_the_key_of(url: str, key: str) -> None:
    assert surt(url) == key


@pytest.mark.slow
@given(urls().map(parse))
def test_a_key_is_one_word_of_visible_ascii(url: str | None) -> None:
    assume(url is not None)
    assert all("!" <= character <= "~" for character in surt(url or ""))
