"""Soft 404s: what reads as the answer to an address that nobody made."""

import pytest

from tests.support.crawled import SITE, Crawled, html

PROBE = "/no-such-page-0123456789abcdef"


def sorry(path: str, title: str = "Not found") -> str:
    text = f"Sorry. There is no {path} here, and there never was. Try the search, or go back to the start."
    return f"<title>{title}</title><p>{text}</p>"


@pytest.mark.parametrize(
    ("outcome", "shown", "flagged"),
    [
        ("fetched", sorry(PROBE), ["/p1", "/p2"]),
        ("gone", sorry(PROBE), ["/p1", "/p2"]),
        ("redirected", sorry(PROBE), []),
        ("fetched", html("Another answer altogether: nothing of this name was found. Go away."), []),
        ("fetched", "<body></body>", []),
    ],
)
def test_what_reads_as_a_made_up_address_does_is_a_soft_404(outcome: str, shown: str, flagged: list[str]) -> None:
    site = Crawled()
    site.fetch("/", sorry("/p1"))
    site.fetch("/p1", sorry("/p1"))
    site.fetch("/p2", sorry("/p2"))
    site.fetch("/own", html())
    site.fetch("/titled", sorry("/titled", title="A title of its own"))
    site.fetch(PROBE, shown, outcome=outcome, purpose="probe")
    site.extract()
    rows = {row["url"].removeprefix(f"http://{SITE}"): row for row in site.versions()}
    assert sorted(path for path, row in rows.items() if "soft_404" in row["flags"]) == flagged
    for path in flagged:
        assert rows[path]["flag_evidence"][-1] == f"soft_404: as http://{SITE}{PROBE}, which nobody made"
    assert PROBE not in rows
