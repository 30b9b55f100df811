"""Automation: what is derived follows the crawl by itself.

Pages and the site map follow the crawl report, which every crawl emits last; the rest follows what it reads.
"""

from typing import Any, Final

import dagster as dg

from assets import names
from pipelines.refresh_batch import BATCH_TAG

# Batches derive what follows themselves. That they are under way, Dagster cannot see: their runs plan no partitions.
_UPDATED: Final = dg.AutomationCondition.newly_updated() & ~dg.AutomationCondition.executed_with_tags(
    tag_keys={BATCH_TAG}
)


def _eager(label: str, *keys: dg.AssetKey) -> dg.AutomationCondition[Any]:
    """Make the eager condition, but for what batches update; for news of these assets only, or of all that is read."""
    updated = dg.AutomationCondition.any_deps_match(_UPDATED | dg.AutomationCondition.will_be_requested())
    if keys:
        updated = updated.allow(dg.AssetSelection.assets(*keys))
    return dg.AutomationCondition.eager().replace("any_deps_updated", updated).with_label(label)


# Only the reports count: the layers before them are updated while the crawl still runs.
_ON_ANY_REPORT: Final = _eager("on_new_crawl_or_refresh_report", names.CRAWL_REPORT, names.REFRESH_REPORT).replace(
    # A site that was crawled has no refresh yet.
    "any_deps_missing",
    dg.AutomationCondition.any_deps_missing().ignore(dg.AssetSelection.assets(names.REFRESH_REPORT)),
)

CONDITIONS: Final[dict[dg.AssetKey, dg.AutomationCondition[Any]]] = {
    names.PAGES: _ON_ANY_REPORT,
    names.SITE_MAP: _eager("on_new_crawl_report", names.CRAWL_REPORT),
    names.MAP_CHANGES: _eager("eager"),
    names.MAP_REPORT: _eager("eager"),
    names.EXACT_DUPLICATES: _eager("eager"),
    names.NEAR_DUPLICATES: _eager("eager"),
    names.INDEX_FEED: _eager("eager"),
    names.CHUNKS: _eager("eager"),
    # The site map that is made beside the pages tells of links only.
    names.PAGE_SCHEDULE: _eager("on_new_pages", names.PAGES),
}


def with_automation(spec: dg.AssetSpec) -> dg.AssetSpec:
    """Give a derived asset its condition."""
    condition = CONDITIONS.get(spec.key)
    return spec if condition is None else spec.replace_attributes(automation_condition=condition)


derive_after_crawl = dg.AutomationConditionSensorDefinition(
    "derive_after_crawl",
    # There may be no chunks: by their group, and not by their key.
    target=dg.AssetSelection.assets(*(key for key in CONDITIONS if key != names.CHUNKS))
    | dg.AssetSelection.groups("feed"),
    minimum_interval_seconds=15,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description=(
        "Materializes content, feed, map and schedule of every site whose crawl report is new. "
        "Switch it off to derive by hand only."
    ),
)
