"""The changing site: serves the world as of the clock, and notes what was asked on which day, and what it gave."""

import os
import re
import signal
import threading
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Final, NamedTuple

from bench.recrawl_run.world import Sitemap, World
from resources.ports import Clock
from tests.support.loopback import LoopbackSite, Page
from tests.support.pages import ORIGIN

ROBOTS: Final = "/robots.txt"
SITEMAP: Final = "/sitemap.xml"
_PAGE: Final = re.compile(r"/s(\d+)/p(\d+)")
_INDEX: Final = re.compile(r"/s(\d+)/")


class Answer(NamedTuple):
    """One answer of the site."""

    day: float
    path: str
    page: int | None  # of the world; None: a list of pages, the sitemap, robots.txt
    edition: int


class ChangingSite(LoopbackSite):
    """A loopback site whose pages are those of a world; its days count from ``begin``, and before that nothing changes.

    Every third section sends no validators, and other bytes each time around the same text.
    """

    def __init__(self, world: World, clock: Clock) -> None:
        super().__init__()
        self.world = world
        self.answers: list[Answer] = []
        self._clock = clock
        self._begin: datetime | None = None
        self._doomed: tuple[int, int] | None = None  # process id, number of the answer that it does not live to read
        self._answering = threading.Lock()

    def begin(self) -> None:
        """Let the world's days begin now."""
        self._begin = self._clock.now()

    @property
    def day(self) -> float:
        """Days since the beginning."""
        return (self._clock.now() - self._begin) / timedelta(days=1) if self._begin else 0.0

    def kill_at_request(self, pid: int, requests: int) -> None:
        """Kill a process when so many more requests have come."""
        with self._answering:
            self._doomed = pid, len(self.answers) + requests

    def spare(self) -> None:
        """Kill nobody any more."""
        with self._answering:
            self._doomed = None

    def page(self, path: str) -> Page:
        """Give what a path holds now."""
        with self._answering:
            day, number = self.day, len(self.answers)
            page = int(found[2]) if (found := _PAGE.fullmatch(path)) else None
            edition = self.world.edition(page, day) if page is not None else 0
            self.answers.append(Answer(day, path, page, edition))
            if self._doomed and number >= self._doomed[1]:
                os.kill(self._doomed[0], signal.SIGKILL)
                self._doomed = None
        if page is not None:
            return self._page(page, edition, number)
        if path == SITEMAP:
            return self._sitemap(day)
        if path == "/":
            return _list("Sections", [f"/s{section}/" for section in range(self.world.settings.sections)])
        if index := _INDEX.fullmatch(path):
            every = range(int(index[1]), self.world.settings.pages, self.world.settings.sections)
            return _list(f"Section {index[1]}", [self.world.path(page) for page in every])
        return Page("<title>Not found</title>", HTTPStatus.NOT_FOUND)

    def _page(self, page: int, edition: int, number: int) -> Page:
        text = "".join(f"<p>{paragraph}</p>" for paragraph in self.world.paragraphs(page, edition))
        body = f"<html lang=en><title>Page {page}</title><article><h1>Page {page}</h1>{text}</article></html>"
        if self.world.section(page) % 3 == 0:
            return Page(f"{body}<!-- answer {number} -->")
        return Page(body, headers=(("ETag", f'"{page}-{edition}"'),))

    def _sitemap(self, day: float) -> Page:
        entries = []
        for page in range(self.world.settings.pages):
            if self.world.sitemaps[self.world.section(page)] is Sitemap.NOTHING:
                continue
            entries.append(f"<url><loc>{ORIGIN}{self.world.path(page)}</loc>{self._lastmod(page, day)}</url>")
        body = f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{"".join(entries)}'
        return Page(f"{body}</urlset>", content_type="application/xml")

    def _lastmod(self, page: int, day: float) -> str:
        stated = self.world.lastmod_day(page, day)
        if stated is None or self._begin is None:
            return ""
        return f"<lastmod>{self._begin + timedelta(days=stated):%Y-%m-%dT%H:%M:%SZ}</lastmod>"


def _list(title: str, paths: list[str]) -> Page:
    links = "".join(f'<li><a href="{path}">{path}</a></li>' for path in paths)
    return Page(f"<title>{title}</title><h1>{title}</h1><ul>{links}</ul>", headers=(("ETag", f'"{title}"'),))
