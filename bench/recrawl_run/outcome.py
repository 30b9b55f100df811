"""What came of a recrawl: measured on the site's own log and the true changes, and what must hold and does not."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import numpy as np

from assets import names
from assets.feed.log import BatchLog
from assets.fetch.item import Purpose
from assets.recrawl.columns import Floats
from bench.recrawl_run.measure import Quality, longest_wait_days, most_in_a_day, quality, uniform_quality
from bench.recrawl_run.run import Recrawl
from bench.recrawl_run.site import ROBOTS, Answer


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was measured."""

    ours: Quality
    uniform: Quality
    requests: int  # in all days, of pages and sitemaps; uniform has them all for pages
    most_in_a_day: int  # within any 24 hours
    longest_wait_days: float
    found: int  # visits that found another edition
    lost: int  # answers that a killed run had not stored
    violations: tuple[str, ...]


def outcome_of(run: Recrawl) -> Outcome:
    """Measure a recrawl at its end, and hold its tables against the site's log."""
    world, days, budget = run.site.world, run.settings.world.days, run.settings.requests_per_day
    asked = [answer for answer in run.site.answers[run.crawled :] if answer.path != ROBOTS]
    visits = _visits(asked, run.settings.world.pages)
    lost = _lost(run)
    in_a_day = most_in_a_day([answer.day for answer in asked])
    ours, uniform = quality(world.changes, visits, days), uniform_quality(world.changes, len(asked), days)
    longest = longest_wait_days(visits, days)
    violations = list(_violations(run, sum(lost.values())))
    # What was lost with a process, nobody could count: only that may go beyond.
    if in_a_day > budget + sum(lost.values()):
        violations.append(f"{in_a_day} requests within 24 hours, the budget is {budget}")
    if longest > run.settings.longest_wait_days:
        violations.append(f"a page waited {longest:.1f} days, {run.settings.longest_wait_days:g} are allowed")
    if ours.freshness <= uniform.freshness:
        violations.append(f"freshness {ours.freshness:.4f}, uniform intervals have {uniform.freshness:.4f}")
    return Outcome(
        ours=ours,
        uniform=uniform,
        requests=len(asked),
        most_in_a_day=in_a_day,
        longest_wait_days=longest,
        found=sum(len(editions) - 1 for editions in editions_served(run).values()),
        lost=sum(lost.values()),
        violations=tuple(violations),
    )


def editions_served(run: Recrawl) -> dict[str, list[int]]:
    """Give the editions of each page that the site gave, each once, by path; those of the crawl come first."""
    served: dict[str, list[int]] = defaultdict(list)
    for answer in run.site.answers:
        if answer.page is not None and answer.edition not in served[answer.path]:
            served[answer.path].append(answer.edition)
    return served


def editions_fed(run: Recrawl) -> dict[str, list[int]]:
    """Give the editions of each page in the order in which the feed's batches hold them, by path."""
    fed: dict[str, list[int]] = defaultdict(list)
    for batch in BatchLog(run.rig.objects, run.site.host).since(0):
        for document in batch.upserts:
            words = document.text.partition("This is edition ")[2].split(maxsplit=1)
            if words:
                fed[urlsplit(document.url).path].append(int(words[0]))
    return fed


def _visits(asked: Sequence[Answer], pages: int) -> list[Floats]:
    days: list[list[float]] = [[] for _ in range(pages)]
    for answer in asked:
        if answer.page is not None:
            days[answer.page].append(answer.day)
    return [np.array(one, float) for one in days]


def _lost(run: Recrawl) -> Counter[str]:
    """Count the answers of each path that are not among the fetches."""
    rows = run.rig.rows(names.T_FETCHES, run.site.host)
    stored = Counter(urlsplit(row["url"]).path for row in rows if row["status"] is not None)
    given = Counter(answer.path for answer in run.site.answers if answer.path != ROBOTS)
    return given - stored


def _violations(run: Recrawl, lost: int) -> Iterator[str]:
    """Name what the tables and the feed say otherwise than the site's log."""
    served, fed = editions_served(run), editions_fed(run)
    for path, editions in served.items():
        # An edition that only a killed process has seen may never have been stored.
        if fed[path] != editions and not (lost and _is_within(fed[path], editions)):
            yield f"{path}: editions {editions} were served, {fed[path]} fed"
    if unread := set(fed) - set(served):
        yield f"fed without a request: {sorted(unread)[:5]}"
    if run.settings.kill and run.killed_on_day is None:
        yield "no run was killed: none had enough to ask"
    if lost and not run.settings.kill:
        yield f"{lost} answers are not among the fetches"
    yield from _miscounted(run)


def _is_within(fed: Sequence[int], served: Sequence[int]) -> bool:
    return list(fed) == [edition for edition in served if edition in fed] and fed[-1:] == served[-1:]


def _miscounted(run: Recrawl) -> Iterator[str]:
    """Name pages whose schedule counts other visits than were stored."""
    rows = run.rig.rows(names.T_FETCHES, run.site.host, purpose=Purpose.PAGE.value)
    stored = Counter(urlsplit(row["url"]).path for row in rows if row["status"] in (200, 304))
    schedule: Mapping[str, int] = {
        urlsplit(row["url"]).path: row["visits"]
        for row in run.rig.rows(names.T_PAGE_SCHEDULE, run.site.host, kind="page")
    }
    wrong = {
        path: (visits, stored[path] - 1) for path, visits in schedule.items() if visits != max(0, stored[path] - 1)
    }
    if wrong:
        path, (counted, visited) = next(iter(sorted(wrong.items())))
        yield f"{len(wrong)} pages have other visits in their schedule: {path} has {counted} of {visited}"
