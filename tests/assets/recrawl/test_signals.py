"""Signals: which dates of a sitemap or feed say that a page changed."""

from math import nan

import numpy as np
import pytest

from assets.fetch.outcome import FetchOutcome
from assets.recrawl.answers import answer_of
from assets.recrawl.columns import Answer
from assets.recrawl.signals import DatedEntries, SignalVerdict, hear
from tests.assets.recrawl.making import START

STILL = [(-9.0, 0.0, -9.0, -5.0)] * 6  # entries that did not move


def entries(*rows: tuple[float, float, float, float]) -> DatedEntries:
    """Lay out lastmod, its span, lastmod before, last read; days since ``START``."""
    lastmod, span, before, read = np.array(rows).T
    return DatedEntries(START + lastmod, span, START + before, START + read)


@pytest.mark.parametrize(
    ("entry", "signalled"),
    [
        ((3.0, 0.0, 1.0, 2.0), True),
        ((3.0, 0.0, 3.0, 2.0), False),
        ((1.5, 0.0, 1.0, 2.0), False),
        ((2.0, 1.0, 1.0, 2.4), True),
        ((2.0, 1.0, nan, 2.4), False),
        ((3.0, 0.0, nan, 2.0), True),
        ((nan, 0.0, 1.0, 2.0), False),
        ((3.0, 0.0, 1.0, nan), False),
        ((9.0, 0.0, 1.0, 2.0), False),
        ((2.9, 0.0, 3.5, 2.0), False),
    ],
    ids=[
        *("moved", "told before", "older than our copy", "the day of our visit", "that day, no reading before"),
        *("first reading", "no date", "never read", "in the future", "moved back"),
    ],
)
def test_a_date_signals_a_change(entry: tuple[float, float, float, float], signalled: bool) -> None:
    heard = hear(entries(entry, *STILL), START + 4.0)
    assert heard.signalled.tolist() == [signalled, *[False] * 6]
    assert heard.future == (entry[0] == 9.0)


@pytest.mark.parametrize(("moved", "still", "verdict"), [(20, 1, "all_at_once"), (18, 2, "heard"), (4, 0, "heard")])
def test_dates_that_all_move_at_once_say_nothing(moved: int, still: int, verdict: str) -> None:
    heard = hear(entries(*[(3.0, 0.0, 1.0, 2.0)] * moved, *STILL[:still]), START + 4.0)
    assert heard.verdict == SignalVerdict(verdict)
    assert heard.signalled.sum() == (moved if verdict == "heard" else 0)


def test_every_fetch_outcome_is_an_answer() -> None:
    answers = {outcome: answer_of(outcome.value, None) for outcome in FetchOutcome}
    assert [outcome for outcome, answer in answers.items() if answer is None] == [FetchOutcome.DEFERRED]
    assert answer_of("gone", 410) is Answer.GONE
    assert answer_of("client_error", 429) is Answer.THROTTLED
    with pytest.raises(ValueError, match="no fetch outcome"):
        answer_of("lost", 200)
