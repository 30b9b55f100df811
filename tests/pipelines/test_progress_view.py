"""The live view of a crawl on a terminal, read from what it wrote there."""

import contextlib
import io
import os
import pty
from pathlib import Path

from rich.console import Console

from pipelines.cli.progress_view import RichProgress
from resources.ports import RunNote
from tests.support.notes import run_note, site_note


def shown(*notes: RunNote) -> str:
    """Give what a terminal got to see."""
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=200, color_system=None, legacy_windows=False)
    with RichProgress(console) as progress:
        for note in notes:
            progress.note(note)
    return screen.getvalue()


def last_picture(*notes: RunNote) -> list[str]:
    """Give the lines that stay when the view is closed."""
    screen = io.StringIO()
    with RichProgress(Console(file=screen, width=200)) as progress:
        for note in notes:
            progress.note(note)
    return [line.rstrip() for line in screen.getvalue().splitlines()]


def test_the_view_says_pages_rate_errors_end_and_what_is_waited_for() -> None:
    picture = "\n".join(last_picture(run_note(site_note("[::1]:8000"))))
    for said in (
        "[::1]:8000 depth_1/raw_batches",
        "1,200 done, 40 left",
        "2.5/s",
        "4 errors, 3.0 MiB",
        "at least 0:04:00 to go; 40 queued, 7 open; 3 hosts waiting (2 politeness delay, 1 backing off)",
        "https://[::1]:8000: 40 queued, backing off after 2 refusals (429, 503) until 12:03:00Z",
    ):
        assert said in picture


def test_a_stage_that_is_over_keeps_its_bar_with_its_last_numbers() -> None:
    over = site_note(done=1_240, left=0, end=None, slowest=None)
    fresh = site_note(stage="depth_2/raw_batches", done=0, left=9, errors={})
    picture = last_picture(run_note(site_note()), run_note(fresh, ended=(over,), is_last=True))
    assert len(picture) == 2
    assert "1,240 done, 0 left" in picture[0]
    assert "0 done, 9 left" in picture[1]


def test_a_run_without_notes_leaves_the_terminal_alone() -> None:
    assert shown() == ""
    assert "a.example" in shown(run_note(site_note()))


def test_the_view_stays_on_its_terminal_while_the_stream_is_sent_elsewhere(tmp_path: Path) -> None:
    ours, terminal = pty.openpty()
    with os.fdopen(ours, "rb", buffering=0) as screen, os.fdopen(terminal, "w") as stream:
        with RichProgress(Console(file=stream, width=200)) as progress:
            with (tmp_path / "compute.err").open("w") as captured:
                os.dup2(captured.fileno(), stream.fileno())
            progress.note(run_note(site_note()))
        seen = b""
        # The view was the last to hold the terminal open: its other end ends with an error.
        with contextlib.suppress(OSError):
            while chunk := screen.read(100_000):
                seen += chunk
    assert b"a.example depth_1/raw_batches" in seen
    assert b"1,200 done, 40 left" in seen
    assert (tmp_path / "compute.err").read_text() == ""
