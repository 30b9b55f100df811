"""The page of the asset checks: what each holds, of which assets, how bad a failure is, by which threshold."""

import re

from pipelines.reference.definitions import reference_definitions
from pipelines.reference.markdown import code, page, table
from pipelines.reference.settings import BUILT_IN
from resources.site_catalog import KNOWN_KEYS


def checks_page() -> str:
    """Make the page."""
    return page(
        "Asset checks",
        "They are reported for each site: the Dagster UI shows them by partition, in runs of one site and of many. A "
        "check that fails stops nothing. [Alerts](../alerts.md) tell of those of severity ERROR, and of WARN if "
        "`ISOBATH_ALERT_WARNINGS` is on. Thresholds are settings of a site, in `sites.yaml`, or of all sites under "
        "`defaults:` there.",
        table(["check", "of", "holds when", "severity", "threshold, and its default"], _rows()),
    )


def _rows() -> list[list[str]]:
    graph = reference_definitions().resolve_asset_graph()
    found: dict[tuple[str, str, str], dict[str, None]] = {}
    for key in sorted(graph.asset_check_keys):
        spec = graph.get_check_spec(key)
        # The layers have the same checks.
        asset = re.sub(r"_\d+/", "_N/", key.asset_key.to_user_string())
        severity = str(spec.metadata.get("severity", "WARN"))
        found.setdefault((key.name, spec.description or "", severity), {})[asset] = None
    return [
        [code(name), ", ".join(map(code, assets)), description, severity, _thresholds(description)]
        for (name, description, severity), assets in sorted(found.items())
    ]


def _thresholds(description: str) -> str:
    named = [word for word in re.findall(r"\w+", description) if word in KNOWN_KEYS]
    return ", ".join(f"`{name}` {getattr(BUILT_IN, name):g}" for name in named)
