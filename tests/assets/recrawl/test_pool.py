"""Pooled rates and sections: what pages of a section are like, and which section a page is in."""

import numpy as np
import pytest

from assets.recrawl.estimate import visited
from assets.recrawl.pool import FASTEST_RATE, SLOWEST_RATE, pool_rates
from assets.recrawl.sections import parent, sections_of

TRUE_RATES = np.array([0.003, 0.01, 0.02, 0.05, 0.1, 0.3])


def test_sections_get_the_rates_of_their_pages() -> None:
    rng, rows = np.random.default_rng(5), 6_000
    section = (np.arange(rows) % 6).astype(np.int32)
    rate = TRUE_RATES[section] * rng.gamma(1.0, 1.0, rows)
    changes = days = np.zeros(rows)
    for _ in range(12):
        gap = rng.exponential(5.0, rows)
        changes, days = visited(
            changes,
            days,
            prior_rate=np.full(rows, 0.03),
            gap_days=gap,
            changed=rng.random(rows) < -np.expm1(-rate * gap),
            changed_days_ago=np.full(rows, np.nan),
        )
    pooled = pool_rates(changes.astype(np.float32), days.astype(np.float32), section, np.zeros(6, np.int32), 1)
    # The evidence was weighed against one rate for all, so far sections stay off a little.
    assert np.abs(np.log(pooled.section / TRUE_RATES)).max() < 0.4
    assert (np.diff(pooled.section) > 0).all()


@pytest.mark.parametrize(
    ("changes", "days", "pages", "expected"),
    [
        (0.0, 0.0, 1, (0.02, 0.02)),  # nothing known: the store's
        (0.0, 300.0, 2, (0.010, 0.02)),  # two pages are mostly their site
        (0.0, 300.0, 2_000, (SLOWEST_RATE, 0.003)),
        (900.0, 1.0, 2_000, (20.0, FASTEST_RATE)),
    ],
)
def test_small_sections_are_drawn_to_the_store(
    changes: float, days: float, pages: int, expected: tuple[float, float]
) -> None:
    pooled = pool_rates(
        np.full(pages, changes, np.float32),
        np.full(pages, days, np.float32),
        np.zeros(pages, np.int32),
        np.zeros(1, np.int32),
        1,
        store_rate=0.02,
    )
    assert expected[0] * (1 - 1e-9) <= pooled.section[0] <= expected[1] * (1 + 1e-9)


def test_a_site_with_too_many_sections_gives_up_the_smallest() -> None:
    urls = [f"https://e.test/docs/{number}/page.html" for number in range(30)]
    urls += [f"https://e.test/news/{number}" for number in range(40)] + ["https://e.test/docs/7/other.html"]
    names, section = sections_of(urls, most=3)
    assert names == ["https://e.test/docs/", "https://e.test/docs/7/", "https://e.test/news/"]
    assert section.tolist() == [1 if "/docs/7/" in url else 0 if "/docs/" in url else 2 for url in urls]


def test_every_page_has_a_section_that_holds_it() -> None:
    rng = np.random.default_rng(1)
    urls = ["/".join(["https://e.test", *map(str, rng.integers(0, 9, rng.integers(1, 6)))]) for _ in range(3_000)]
    names, section = sections_of(urls, most=50)
    assert len(names) <= 50
    assert all(url.startswith(names[number]) for url, number in zip(urls, section, strict=True))
    assert sections_of(urls, most=10_000)[0] == sorted({url[: url.rindex("/") + 1] for url in urls})
    assert parent(parent("https://e.test/a/")) == ""
