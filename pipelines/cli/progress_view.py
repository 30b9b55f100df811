"""The progress view: one live line a site, for a crawl started on a terminal."""

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn
from rich.text import Text

from resources.ports import ProgressNote


class _PagesPerSecond(ProgressColumn):
    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:.0f}/s", style="cyan")


class RichProgress:
    """Implements ``ports.Progress`` on a terminal. Use as a context manager."""

    def __init__(self, console: Console) -> None:
        self._view = Progress(
            TextColumn("[bold]{task.description}"),
            BarColumn(bar_width=12),
            TextColumn("{task.completed} done, {task.fields[left]} left"),
            _PagesPerSecond(),
            TextColumn("{task.fields[errors]} errors {task.fields[mebibytes]:.1f} MiB"),
            console=console,
        )
        self._tasks: dict[tuple[str, str], TaskID] = {}

    def __enter__(self) -> "RichProgress":
        return self

    def __exit__(self, *_: object) -> None:
        if self._tasks:
            self._view.stop()

    def note(self, note: ProgressNote) -> None:
        """Show a note; the view begins with the first one."""
        self._view.start()
        key = (note.site, note.stage)
        if key not in self._tasks:
            self._tasks[key] = self._view.add_task(f"{note.site} {note.stage}", left=0, errors=0, mebibytes=0.0)
        self._view.update(
            self._tasks[key],
            completed=note.done,
            total=note.done + note.left,
            left=note.left,
            errors=note.errors,
            mebibytes=note.body_bytes / 2**20,
        )
