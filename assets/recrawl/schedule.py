"""The schedule of one site: crawls that are new are folded in, a plan is made, due times follow from both."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from assets import names
from assets.recrawl.folding import fold_crawl, hear_pings, page_numbers
from assets.recrawl.history import Visit, hash_of, keys_of, read_history, read_texts
from assets.recrawl.offer import Offer, offer_of_target
from assets.recrawl.pings import Ping, pings_until, read_pings
from assets.recrawl.rows import Schedule
from assets.recrawl.sharing import cap_of
from assets.recrawl.site_plan import plan_site, site_columns_of
from assets.recrawl.surroundings import count_in_links, crawl_delay_s, requests_sent
from assets.schemas import SITE_SCHEDULE
from resources.ports import SiteSettings, TableStore


@dataclass(frozen=True, slots=True)
class SiteSchedule:
    """What became of the schedule of a site."""

    pages: pa.Table  # rows of page_schedule
    site: dict[str, Any]  # its row of site_schedule
    counts: Counter[str]  # of what was folded in
    crawls: int  # that were
    target: Offer | None  # what the freshness target costs
    over_per_day: float  # requests wanted beyond the budget even at the longest intervals
    digest: str


def schedule_of_site(
    settings: SiteSettings,
    tables: TableStore,
    *,
    now: datetime,
    requests_per_day: float | None,
    sharing: frozenset[str] = frozenset(),
    full_refresh: bool = False,
) -> SiteSchedule:
    """Bring the schedule of a site up to date and write it.

    Pages are written first, the site's row last. Should a run die between the two, the next one sees that they do not
    belong together and folds all history again, so that no visit counts twice.

    Args:
        settings: of the site.
        tables: the store.
        now: when due times are made, and from when used requests are counted back.
        requests_per_day: the global budget; None: there is none.
        sharing: sites that share it. Rows of others, which were removed, count for nothing.
        full_refresh: fold all history again, though it is folded.
    """
    site = settings.site
    site_rows = tables.read(names.T_SITE_SCHEDULE)
    schedule = Schedule.empty()
    if not full_refresh:
        own_row = site_rows.filter(pc.field("site") == site)
        schedule = Schedule.of(tables.read(names.T_PAGE_SCHEDULE, sites=[site]), own_row)
    pings = read_pings(tables, site)
    # One that was stored only after a crawl that began after it was folded: what was folded is not the whole history.
    if pings_until(pings, schedule.folded_through) != schedule.pings_folded:
        schedule = Schedule.empty()
    schedule, counts, crawls = _folded(tables, site, schedule, pings[schedule.pings_folded :])
    schedule = hear_pings(schedule, pings[schedule.pings_folded :]).in_order()
    cap_per_day = cap_of(settings, crawl_delay_s(tables, site))
    plan = plan_site(
        schedule,
        settings,
        in_links=count_in_links(tables, site, schedule.url_keys),
        cap_per_day=cap_per_day,
        now=now,
        requests_per_day=requests_per_day,
        neighbours=site_rows.filter(pc.field("site").isin(pa.array(sorted(sharing - {site}), pa.string()))),
    )
    rows = plan.page_rows(site)
    row = {
        "site": site,
        "cap_per_day": cap_per_day,
        "pings_heard": len(pings),
        **site_columns_of(plan, now),
        **requests_sent(tables, site, now),
    }
    tables.replace(names.T_PAGE_SCHEDULE, sites=[site], rows=rows)
    tables.replace(names.T_SITE_SCHEDULE, sites=[site], rows=pa.Table.from_pylist([row], schema=SITE_SCHEDULE))
    target = settings.freshness_target_days
    return SiteSchedule(
        pages=rows,
        site=row,
        counts=counts,
        crawls=crawls,
        target=offer_of_target(plan.needs.demand, target) if target else None,
        over_per_day=plan.over_per_day,
        digest=_digest(rows, schedule.folded_through),
    )


def _folded(
    tables: TableStore, site: str, schedule: Schedule, pings: Sequence[Ping]
) -> tuple[Schedule, Counter[str], int]:
    """Fold the crawls that are new, one after the other, each with the pings before it."""
    history = read_history(tables, site, schedule.folded_through, pings)
    numbers = page_numbers(schedule)

    def is_known(visit: Visit) -> bool:
        row = numbers.get(visit.page)
        return row is not None and int(schedule.pages.payload_hash[row]) == hash_of(visit.payload)

    texts = read_texts(tables, site, keys_of(history, is_known))
    counts: Counter[str] = Counter()
    folded = schedule
    for crawl in history:
        folded, found = fold_crawl(folded, numbers, crawl, texts)
        counts.update(found)
    return folded, counts, len(history)


def _digest(rows: pa.Table, folded_through: str) -> str:
    """Give a digest that is equal when no page is due at another minute."""
    due = pc.floor_temporal(rows["due_at"], unit="minute").cast(pa.int64()).fill_null(-1)
    digest = hashlib.sha256("\n".join([folded_through, *rows["url_key"].to_pylist()]).encode("utf-8", "replace"))
    digest.update(due.to_numpy().tobytes())
    return digest.hexdigest()
