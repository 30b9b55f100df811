"""Tables of the recrawl: what is known of each page's changes and when it is due, and what its site adds up to."""

from typing import Final

import pyarrow as pa

from assets.schemas.columns import SITE, URL, URL_KEY, UTC_TIME, column

PAGE_SCHEDULE = pa.schema(
    [
        SITE,
        URL,
        URL_KEY,
        column("kind", pa.string(), "page, or sitemap for a sitemap or feed"),
        column("section", pa.string(), "the directory whose pages share a prior; of sitemaps: 'sitemaps'"),
        column("status", pa.string(), "new, live, gone, barred or retired"),
        column("due_at", UTC_TIME, "earliest useful next visit; null: never", optional=True),
        column("weight", pa.float32(), "importance, any scale"),
        column("rate_per_day", pa.float64(), "estimated changes", unit="1/day"),
        column("section_rate_per_day", pa.float64(), "changes of a page of which nothing is known", unit="1/day"),
        column("visits", pa.int64(), "visits after the first that were evidence", unit="visits"),
        column("changes", pa.int64(), "of those: found a change", unit="visits"),
        column("evidence_changes", pa.float32(), "evidence above the prior", unit="changes"),
        column("evidence_days", pa.float32(), "evidence above the prior", unit="days"),
        column("fixed_interval_days", pa.float32(), "of a hub; null: by worth", unit="days", optional=True),
        column("max_interval_days", pa.float32(), "the page is never left alone for longer", unit="days"),
        column("known_at", UTC_TIME, "when it was named first"),
        column("asked_at", UTC_TIME, "last request, whatever came of it", optional=True),
        column("read_at", UTC_TIME, "last visit that said what it holds", optional=True),
        column("whole_at", UTC_TIME, "last visit that read it and was no 304", optional=True),
        column("gone_since", UTC_TIME, "first 404/410 of an unbroken row of them", optional=True),
        column("gone_visits", pa.int32(), "404/410 in that row", unit="visits"),
        column("fails", pa.int32(), "failures in a row", unit="visits"),
        column("signals", pa.int32(), "change signals since it was read, folded", unit="signals"),
        column("pings", pa.int32(), "pings since the last crawl began: planned with, not folded yet", unit="pings"),
        column("only_pinged", pa.bool_(), "nothing but those pings names it: the page is not folded yet"),
        column("in_links", pa.int64(), "pages that link here, by the site map", unit="pages"),
        column("lastmod", UTC_TIME, "what a sitemap said last of when it changed", optional=True),
        column("folded_through", pa.string(), "as in site_schedule, when both were written; else they are made anew"),
        column("text_hash", pa.int64(), "64 bits of its text digest; 0: no text"),
        column("payload_hash", pa.int64(), "64 bits of its payload digest or redirect target; 0: never read"),
        column("validator_hash", pa.int64(), "64 bits of ETag, else Last-Modified; 0: none"),
    ]
)

SITE_SCHEDULE = pa.schema(
    [
        SITE,
        column("folded_through", pa.string(), "last crawl whose fetches are in the schedule; empty: none"),
        column("planned_at", UTC_TIME, "when due times were made"),
        column("pings_heard", pa.int64(), "pings of the site that the plan knows of", unit="pings"),
        column("pings_folded", pa.int64(), "of those: folded, for a crawl began after them", unit="pings"),
        column("pages", pa.int64(), "rows of its schedule", unit="pages"),
        column("live_pages", pa.int64(), "of those: live, and no sitemaps", unit="pages"),
        column("requests_per_day", pa.float64(), "what it may use: its own, else its share", unit="1/day"),
        column("cap_per_day", pa.float64(), "what its delay allows at full pace", unit="1/day"),
        column("theta_days", pa.float64(), "expected age at which a page of weight 1 is due; inf: no recrawls"),
        column("target_days", pa.float64(), "freshness target; 0: none", unit="days"),
        column("demand_per_day", pa.float64(), "requests its pages want at theta, without hubs", unit="1/day"),
        column("first_per_day", pa.float64(), "requests for pages never read", unit="1/day"),
        column("hubs_per_day", pa.float64(), "requests for hubs", unit="1/day"),
        column("hub_stretch", pa.float64(), "hub intervals are so many times as long as asked, >= 1"),
        column("min_interval_days", pa.float64(), "no page is due sooner", unit="days"),
        column("mean_weight", pa.float64(), "of its live pages"),
        column("site_rate_per_day", pa.float64(), "changes of a page, pooled over the site", unit="1/day"),
        column("expected_freshness", pa.float64(), "share of copies that are as their page, by weight, 0..1"),
        column("expected_age_days", pa.float64(), "mean age of a copy, by weight", unit="days"),
        column("fresh_at_visit", pa.float64(), "share of visits that found no change, by weight", optional=True),
        column("first_due_at", UTC_TIME, "earliest due time; null: nothing is ever due", optional=True),
        column("due_when_planned", pa.int64(), "pages that were due at planned_at", unit="pages"),
        column("due_by_hour", pa.list_(pa.int64()), "pages that become due in each of 48 hours; overdue in the first"),
        column("requests_24h", pa.int64(), "requests sent in the 24 hours before", unit="requests"),
        column("requests_7d", pa.int64(), "requests sent in the 7 days before", unit="requests"),
        column("signal_precision", pa.float64(), "chance that a page changed when a signal says so"),
        column("signal_recall", pa.float64(), "share of changes that are signalled"),
        # What sites that share the budget need to know of this one.
        column("wanted_own_budget", pa.bool_(), "a budget or target of its own: served first"),
        column("wanted_limit_per_day", pa.float64(), "most that it may or wants to use", unit="1/day"),
        column("wanted_first_per_day", pa.float64(), "requests for pages never read, before sharing", unit="1/day"),
        column("wanted_hubs_per_day", pa.float64(), "requests for hubs, before sharing", unit="1/day"),
        column("wanted_curve", pa.list_(pa.float64()), "requests a day at each theta of a fixed row of them"),
        # Folded state.
        column("reference_at", UTC_TIME, "the day that reference_rate holds for", optional=True),
        column("reference_rate", pa.float64(), "changes of a page when that day began", unit="1/day"),
        column("evidence_changes", pa.float64(), "sum over its pages", unit="changes"),
        column("evidence_days", pa.float64(), "sum over its pages", unit="days"),
        column("hits", pa.int64(), "visits after a signal that found a change", unit="visits"),
        column("misses", pa.int64(), "visits after a signal that found none", unit="visits"),
        column("recalled", pa.int64(), "changes that a signal told of", unit="visits"),
        column("unrecalled", pa.int64(), "changes that none told of", unit="visits"),
        column("signals", pa.int64(), "ever", unit="signals"),
        column("lies", pa.int64(), "texts that changed under their validator", unit="visits"),
        column("pace", pa.float64(), "share of the cap at paced_at; 1: all"),
        column("paced_at", UTC_TIME, "when it last asked us to slow down", optional=True),
    ],
    metadata={"partitioned": "no"},  # read for all sites at once
)

PINGS = pa.schema(
    [
        SITE,
        URL,
        URL_KEY,
        column("pinged_at", UTC_TIME, "when somebody said that the page changed, or that it is new"),
        column("source", pa.string(), "the command, or the name and digest of the file; a page counts once in each"),
    ],
    metadata={"partitioned": "no"},  # a few rows at a time, of any sites
)

KIND_PAGE: Final = "page"
KIND_SITEMAP: Final = "sitemap"
