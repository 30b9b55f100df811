"""What is derived follows what it reads: which report or asset starts which."""

import dagster as dg
import pytest

from assets import names
from pipelines.definitions import defs

SITE = "a.example"
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
