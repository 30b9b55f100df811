"""The loopback site keeps the promises that other tests build on."""

import re
from collections.abc import Iterator
from urllib.parse import urljoin, urlsplit

import pytest

from tests.support.asking import Asker, ask, make_fetcher
from tests.support.loopback import SMALL_SITE_DEPTHS, LoopbackSite, small_site


@pytest.fixture(scope="module")
def fetcher() -> Iterator[Asker]:
    made = make_fetcher()
    yield made
    made.close()


def test_several_hosts_live_on_one_machine(fetcher: Asker) -> None:
    try:
        other = LoopbackSite({"/": "two"}, address="127.0.0.2")
    except OSError:
        pytest.skip("this system has no 127.0.0.2 (only Linux does)")
    with LoopbackSite({"/": "one"}) as one, other as two:
        answers = [ask(fetcher, each.url("/")) for each in (one, two)]
    assert [(a.body, a.peer_ip) for a in answers] == [(b"one", "127.0.0.1"), (b"two", "127.0.0.2")]


@pytest.mark.parametrize(("robots", "status"), [("User-agent: *", 200), (503, 503), (None, 404), ("drop", None)])
def test_the_loopback_site_has_the_robots_it_is_given(
    fetcher: Asker, robots: str | int | None, status: int | None
) -> None:
    with LoopbackSite(robots=robots) as site:
        assert ask(fetcher, site.url("/robots.txt")).status == status


def test_the_small_site_is_what_its_table_says(fetcher: Asker) -> None:
    depths: dict[int, tuple[str, ...]] = {}
    with LoopbackSite(small_site()) as site:
        known, layer = {"/"}, ["/"]
        for depth in range(5):
            fetched, found = [], ["/orphan"] if depth == 0 else []
            for path in layer:
                answer = ask(fetcher, site.url(path))
                if answer.status == 301:
                    path = answer.header("Location") or ""
                    answer = ask(fetcher, site.url(path))
                if answer.status == 200:
                    fetched.append(path)
                    links = re.findall(r'<a href="([^"#]+)', answer.body.decode())
                    found += [urlsplit(urljoin(site.url(path), link)).path for link in links if "offsite" not in link]
            if fetched:
                depths[depth] = tuple(sorted(fetched))
            layer = [
                path for path in dict.fromkeys(found) if path not in known and not re.search(r"private|pdf$", path)
            ]
            known.update(layer)
        sitemap = ask(fetcher, site.url("/sitemap.xml")).body.decode()
        assert f"<loc>{site.url('/orphan')}</loc>" in sitemap
    assert depths == SMALL_SITE_DEPTHS
