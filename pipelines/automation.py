"""Automation: what is derived follows the crawl by itself.

Pages and the site map follow the crawl report, which every crawl emits last; the rest follows what it reads.
"""

from typing import Any, Final

import dagster as dg

from assets import names

_EAGER: Final = dg.AutomationCondition.eager()
# Only the report counts: the layers before it are updated while the crawl still runs.
_ON_NEW_REPORT: Final = _EAGER.replace(
    "any_deps_updated",
    dg.AutomationCondition.any_deps_updated().allow(dg.AssetSelection.assets(names.CRAWL_REPORT)),
).with_label("on_new_crawl_report")
_ON_ANY_REPORT: Final = (
    _EAGER.replace(
        "any_deps_updated",
        dg.AutomationCondition.any_deps_updated().allow(
            dg.AssetSelection.assets(names.CRAWL_REPORT, names.REFRESH_REPORT)
        ),
    )
    # A site that was crawled has no refresh yet.
    .replace(
        "any_deps_missing",
        dg.AutomationCondition.any_deps_missing().ignore(dg.AssetSelection.assets(names.REFRESH_REPORT)),
    )
    .with_label("on_new_crawl_or_refresh_report")
)

# The site map that is made beside them tells of links only.
_ON_NEW_PAGES: Final = _EAGER.replace(
    "any_deps_updated", dg.AutomationCondition.any_deps_updated().allow(dg.AssetSelection.assets(names.PAGES))
).with_label("on_new_pages")

CONDITIONS: Final[dict[dg.AssetKey, dg.AutomationCondition[Any]]] = {
    names.PAGES: _ON_ANY_REPORT,
    names.SITE_MAP: _ON_NEW_REPORT,
    names.EXACT_DUPLICATES: _EAGER,
    names.NEAR_DUPLICATES: _EAGER,
    names.INDEX_FEED: _EAGER,
    names.PAGE_SCHEDULE: _ON_NEW_PAGES,
}


def with_automation(spec: dg.AssetSpec) -> dg.AssetSpec:
    """Give a derived asset its condition."""
    condition = CONDITIONS.get(spec.key)
    return spec if condition is None else spec.replace_attributes(automation_condition=condition)


derive_after_crawl = dg.AutomationConditionSensorDefinition(
    "derive_after_crawl",
    target=dg.AssetSelection.assets(*CONDITIONS),
    minimum_interval_seconds=15,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description=(
        "Materializes content, feed, map and schedule of every site whose crawl report is new. "
        "Switch it off to derive by hand only."
    ),
)
