"""The progress view: a live bar a site and stage, and what the run waits for, for a crawl started on a terminal."""

import os
from datetime import timedelta
from typing import Final

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, ProgressColumn, TaskID, TextColumn
from rich.text import Text

from resources.ports import RunNote, SiteNote

SHOWN_BARS: Final = 10
SHOWN_HOSTS: Final = 3
WIDE: Final = 100  # columns of a terminal


class RichProgress:
    """Implements ``ports.Progress`` on a terminal. Use as a context manager."""

    def __init__(self, console: Console) -> None:
        self._console = _kept(console)
        self._is_own = self._console is not console
        columns: list[ProgressColumn] = [
            # A site's name may hold brackets.
            TextColumn("{task.description}", style="bold", markup=False),
            BarColumn(bar_width=12),
            TextColumn("{task.completed:,.0f} done, {task.fields[left]:,} left"),
            TextColumn("{task.fields[speed]:.1f}/s", style="cyan"),
        ]
        if self._console.width >= WIDE:
            columns.append(TextColumn("{task.fields[errors]:,} errors, {task.fields[mebibytes]:.1f} MiB"))
        self._bars = Progress(*columns, console=self._console)
        # What others print during the run belongs to its compute log.
        self._live = Live(console=self._console, refresh_per_second=4, redirect_stdout=False, redirect_stderr=False)
        self._tasks: dict[tuple[str, str], TaskID] = {}

    def __enter__(self) -> "RichProgress":
        return self

    def __exit__(self, *_: object) -> None:
        if self._live.is_started:
            self._live.stop()
        if self._is_own:
            self._console.file.close()

    def note(self, note: RunNote) -> None:
        """Show a note; the view begins with the first one."""
        for site in note.ended:
            self._show(site)
        for site in note.sites[:SHOWN_BARS]:
            self._show(site)
        parts = [self._bars] if note.is_last else [self._bars, _waiting(note)]
        self._live.update(Group(*parts))
        self._live.start()

    def _show(self, site: SiteNote) -> None:
        key = (site.site, site.stage)
        if key not in self._tasks:
            if not site.done and not site.left:
                return
            self._tasks[key] = self._bars.add_task(
                f"{site.site} {site.stage}", left=0, speed=0.0, errors=0, mebibytes=0.0
            )
        self._bars.update(
            self._tasks[key],
            completed=site.done,
            total=site.done + site.left,
            left=site.left,
            speed=site.pages_per_s,
            errors=sum(site.errors.values()),
            mebibytes=site.body_bytes / 2**20,
        )


def _kept(console: Console) -> Console:
    """Give a console that stays on its terminal: Dagster sends the process's own streams to a file during a step."""
    if not console.is_terminal:
        return console
    try:
        descriptor = os.dup(console.file.fileno())
    except OSError:
        return console
    return Console(file=os.fdopen(descriptor, "w", encoding=console.encoding), soft_wrap=console.soft_wrap)


def _waiting(note: RunNote) -> Text:
    """Say what the run waits for: hosts by reason, and those that take longest."""
    parts = [*_time_left(note), f"{note.queued:,} queued, {note.open_requests:,} open", note.say_waiting()]
    if note.errors:
        parts.append(f"{sum(note.errors.values()):,} errors")
    lines = ["; ".join(parts)]
    lines += [f"  {host.host_key}: {host.queued:,} queued, {host.why(note.at)}" for host in note.hosts[:SHOWN_HOSTS]]
    return Text("\n".join(lines), style="dim", no_wrap=True, overflow="ellipsis")


def _time_left(note: RunNote) -> list[str]:
    if note.end is None:
        return []
    left = timedelta(seconds=max(round((note.end.at - note.at).total_seconds()), 0))
    return [f"{'at least' if note.end.is_bound else 'about'} {left} to go"]
