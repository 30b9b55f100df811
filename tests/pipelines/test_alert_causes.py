"""Causes: one message for each, to each sink, once; nothing is lost, and nothing grows without bound."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.alert_causes import (
    MAX_CAUSES,
    MAX_NAMED,
    MAX_PLACES,
    OTHERS,
    Causes,
    Failed,
    Succeeded,
    after,
    title_of,
    told,
)

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
DAY = timedelta(hours=24)
SINKS = {"one", "other"}


def failed(site: str = "a.test", reason: str = "it broke", where: str = "links") -> Failed:
    return Failed(f"{where} failed", where, site, reason, "http://ui/")


def tell(causes: Causes, now: datetime, sinks: set[str] | None = None) -> tuple[Causes, list[tuple[str, str]]]:
    sent = []
    kept = dict(causes)
    for sink in sorted(SINKS if sinks is None else sinks):
        for key, cause in kept.items():
            if cause.is_due(sink, now, DAY):
                sent.append((sink, key))
                kept[key] = cause.told_to(sink, now)
    return told(kept, SINKS, now), sent


@pytest.mark.parametrize(
    ("reason", "site", "title"),
    [
        ("ParserBug: planted for a.test:80", "a.test:80", "links failed: ParserBug: planted for SITE"),
        ("https://a.test/x?y=1 gave 404 after 1.25 s", "a.test", "links failed: URL gave # after # s"),
        ("aaa.test is not a.test\nnor a.test-b", "a.test", "links failed: aaa.test is not SITE nor a.test-b"),
        ("run 0f3c1d2e-aaaa-4bbb is lost; deadbeef is not", "", "links failed: run # is lost; deadbeef is not"),
        ("x" * 999, "a.test", "links failed: " + "x" * 143 + "..."),
    ],
)
def test_reasons_that_differ_in_names_and_numbers_are_one_cause(reason: str, site: str, title: str) -> None:
    assert title_of(failed(site, reason)) == title


def test_thousands_of_sites_with_one_cause_are_one_message_that_names_twenty() -> None:
    events = [failed(f"s{number}.test", f"Bug: in s{number}.test, line {number}") for number in range(MAX_PLACES + 1)]
    causes: Causes = after({}, events, NOON)
    (cause,) = causes.values()
    alert = cause.alert("one")
    assert [place.site for place in alert.places] == [f"s{number}.test" for number in range(MAX_NAMED)]
    assert (alert.more, alert.at_least) == (MAX_PLACES - MAX_NAMED, True)
    causes, sent = tell(causes, NOON)
    assert len(sent) == len(SINKS)
    assert tell(after(causes, events, NOON + DAY / 2), NOON + DAY / 2)[1] == []


def test_a_cause_is_told_again_when_it_goes_on_and_when_it_came_back() -> None:
    hour = timedelta(hours=1)
    causes, sent = tell(after({}, [failed(), failed("b.test")], NOON), NOON)
    assert len(sent) == 2
    # It neither went away, nor is a day over.
    causes, sent = tell(after(causes, [Succeeded("links", "a.test"), failed()], NOON + hour), NOON + hour)
    assert sent == []
    # A day is over, and there is news.
    assert tell(causes, NOON + DAY - hour)[1] == []
    causes, sent = tell(causes, NOON + DAY)
    assert len(sent) == 2
    assert tell(causes, NOON + 3 * DAY)[1] == []
    # It went away: nothing to say, and nothing to keep. It is back at once: there is.
    gone = after(causes, [Succeeded("links", "a.test"), Succeeded("links", "b.test")], NOON + DAY + hour)
    assert tell(gone, NOON + DAY + hour) == ({}, [])
    back, sent = tell(after(gone, [failed("b.test")], NOON + DAY + hour), NOON + DAY + hour)
    assert len(sent) == 2
    assert [place.site for cause in back.values() for place in cause.named] == ["b.test"]


def test_a_sink_that_was_down_hears_of_what_is_over_and_the_other_does_not_again() -> None:
    causes, _ = tell(after({}, [failed()], NOON), NOON, {"one"})
    causes = after(causes, [Succeeded("links", "a.test")], NOON)
    (cause,) = causes.values()
    assert cause.alert("other").places[0].succeeded_since
    causes, sent = tell(causes, NOON)
    assert [sink for sink, _ in sent] == ["other"]
    assert not causes


def test_more_causes_than_are_kept_push_out_what_was_told_and_never_what_was_not() -> None:
    reasons = ["".join(chr(97 + int(digit)) for digit in str(number)) for number in range(2 * MAX_CAUSES)]
    unheard = after({}, [failed(reason=reason) for reason in reasons], NOON)
    assert len(unheard) == MAX_CAUSES + 1
    assert len(unheard[OTHERS].named) == 1
    causes, sent = tell(unheard, NOON)
    assert len(sent) == 2 * (MAX_CAUSES + 1)
    causes = after(causes, [failed(reason="something new")], NOON)
    assert "links failed: something new" in causes
    assert len(causes) <= MAX_CAUSES + 1
    assert (
        told(
            {key: replace(cause, told=dict.fromkeys(SINKS, NOON)) for key, cause in causes.items()},
            SINKS,
            NOON + 31 * DAY,
        )
        == {}
    )


event = st.one_of(
    st.builds(failed, st.sampled_from("abc"), st.sampled_from(["x", "y"]), st.sampled_from(["links", "pages"])),
    st.builds(Succeeded, st.sampled_from(["links", "pages"]), st.sampled_from("abc")),
)


@given(st.lists(st.tuples(st.lists(event, max_size=4), st.sets(st.sampled_from(sorted(SINKS)))), max_size=8))
def test_each_sink_hears_of_each_episode_once(ticks: list[tuple[list[Failed | Succeeded], set[str]]]) -> None:
    """Compare with a model that keeps everything: an episode of a cause is from its first failure until all is well."""
    causes: Causes = {}
    failing: dict[str, set[tuple[str, str]]] = {}
    owed: dict[str, set[str]] = {}  # cause -> sinks
    for events, reached in [*ticks, ([], SINKS)]:
        for happened in events:
            if isinstance(happened, Failed):
                title = title_of(happened)
                if not failing.get(title):
                    owed[title] = set(SINKS)
                failing.setdefault(title, set()).add((happened.where, happened.site))
            else:
                for places in failing.values():
                    places.discard((happened.where, happened.site))
        causes, sent = tell(after(causes, events, NOON), NOON, reached)
        assert len(sent) == len(set(sent))
        assert set(sent) == {(sink, title) for title, sinks in owed.items() for sink in sinks & reached}
        owed = {title: sinks - reached for title, sinks in owed.items()}
        assert {key for key, cause in causes.items() if cause.failing} == {
            key for key, places in failing.items() if places
        }
