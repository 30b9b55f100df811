"""What is derived follows what it reads: which report or asset starts which."""

from collections import Counter
from collections.abc import Iterable

import dagster as dg
import pytest

from assets import names
from pipelines.definitions import defs

SITE = "a.example"
# Each after what it reads.
IN_ORDER = (
    *(names.PAGES, names.EXACT_DUPLICATES, names.NEAR_DUPLICATES, names.INDEX_FEED),
    *(names.SITE_MAP, names.MAP_CHANGES, names.MAP_REPORT, names.PAGE_SCHEDULE),
)
DERIVED = (names.PAGES, names.SITE_MAP, names.PAGE_SCHEDULE)


# Dagster's own test function meets Dagster's own beta feature.
@pytest.mark.filterwarnings("ignore:Parameter `include_sources` of function")
@pytest.mark.slow
def test_each_report_starts_what_reads_it_and_the_schedule_follows_the_pages() -> None:
    steps = [
        (names.CRAWL_REPORT, [names.PAGES, names.SITE_MAP, names.PAGE_SCHEDULE]),  # in one run
        (names.SITE_MAP, []),
        (names.PAGES, [names.PAGE_SCHEDULE]),
        (names.PAGE_SCHEDULE, []),
        (names.REFRESH_REPORT, [names.PAGES, names.PAGE_SCHEDULE]),
    ]
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("sites", [SITE])
        cursor = dg.evaluate_automation_conditions(defs=defs, instance=instance).cursor
        for key, expected in steps:
            instance.report_runless_asset_event(dg.AssetMaterialization(key, partition=SITE))
            result = dg.evaluate_automation_conditions(defs=defs, instance=instance, cursor=cursor)
            assert [wanted for wanted in DERIVED if result.get_num_requested(wanted)] == expected, key
            cursor = result.cursor


@pytest.mark.filterwarnings("ignore:Parameter `include_sources` of function")
@pytest.mark.slow
def test_of_two_thousand_sites_those_that_were_crawled_are_derived_exactly_once() -> None:
    sites = [f"s{number}.example" for number in range(2_000)]
    crawled = sites[::5]  # all of them take five times as long, and end in the same way
    asked: Counter[tuple[dg.AssetKey, str]] = Counter()
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("sites", sites)
        cursor = dg.evaluate_automation_conditions(defs=defs, instance=instance).cursor

        def materialize(key: dg.AssetKey, of: Iterable[str]) -> None:
            for site in of:
                instance.report_runless_asset_event(dg.AssetMaterialization(key, partition=site))

        # Half of the crawls end, then the other half; after each, what is asked for is made, and two ticks go by.
        for half in (crawled[::2], crawled[1::2]):
            materialize(names.CRAWL_REPORT, half)
            for _ in range(3):
                result = dg.evaluate_automation_conditions(defs=defs, instance=instance, cursor=cursor)
                cursor = result.cursor
                for key in IN_ORDER:
                    wanted = [site for site in result.get_requested_partitions(key) if site is not None]
                    asked.update((key, site) for site in wanted)
                    materialize(key, wanted)
    assert set(asked) == {(key, site) for key in IN_ORDER for site in crawled}
    assert set(asked.values()) == {1}
