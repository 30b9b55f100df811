"""What a run that nobody watches leaves in its log."""

import pytest

from resources.logged_progress import LOGGER, LoggedProgress
from tests.support.clocks import TurnableClock
from tests.support.notes import run_note, site_note


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """Keep what is logged of progress."""
    caplog.set_level("INFO", LOGGER.name)
    return caplog


def test_a_run_logs_one_message_a_half_minute_and_one_at_its_end(logged: pytest.LogCaptureFixture) -> None:
    clock = TurnableClock()
    progress = LoggedProgress(clock)
    for second in range(121):
        progress.note(run_note(site_note(), run_id="one", done=second))
        progress.note(run_note(site_note(), run_id="two", done=1000 + second))
        clock.advance(1.0)
    for run_id in ("one", "two"):
        progress.note(run_note(run_id=run_id, done=5000, is_last=True))
    pages = [message.split("; ")[1].split(" done")[0] for message in logged.messages]
    assert pages == [
        *("25 pages", "1,025 pages", "50 pages", "1,050 pages", "75 pages", "1,075 pages", "100 pages", "1,100 pages"),
        *("5,000 pages", "5,000 pages"),
    ]


def test_a_message_says_how_the_run_stands_and_which_sites_end_last(logged: pytest.LogCaptureFixture) -> None:
    sites = [site_note(f"{number}.example") for number in range(200)]
    LoggedProgress(TurnableClock()).note(run_note(*sites, is_last=True))
    lines = logged.messages[0].splitlines()
    assert lines[0] == (
        "1 of 201 sites done; 1,300 pages done, 40 left; 2.5/s now, 4.0/s overall; 40 queued, 7 requests open; "
        "3 hosts waiting (2 politeness delay, 1 backing off); errors: 3 timeout, 1 server_error; 3.0 MiB; "
        "what is known ends not before 12:04:00Z"
    )
    assert lines[1] == (
        "0.example depth_1/raw_batches: 1,200 done, 40 left; 2.5/s; errors: 3 timeout, 1 server_error; "
        "https://0.example: 40 queued, backing off after 2 refusals (429, 503) until 12:03:00Z; "
        "ends not before 12:04:00Z"
    )
    assert len(lines) == 11
