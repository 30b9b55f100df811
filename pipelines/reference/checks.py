"""The page of the asset checks: what each holds, of which assets, how bad a failure is, by which threshold."""

import re
from dataclasses import asdict

from pipelines.reference.definitions import reference_definitions
from pipelines.reference.markdown import code, page, table
from pipelines.reference.settings import BUILT_IN
from resources.ports.catalog import MapLimits, TextLimits
from resources.site_catalog import KNOWN_KEYS


def checks_page() -> str:
    """Make the page."""
    return page(
        "Asset checks",
        "They are reported for each site: the Dagster UI shows them by partition, in runs of one site and of many. A "
        "check that fails stops nothing. [Alerts](../alerts.md) tell of those of severity ERROR, and of WARN if "
        "`ISOBATH_ALERT_WARNINGS` is on. Thresholds and severities are settings of a site in `sites.yaml`, or of all "
        "sites under `defaults:` there:\n\n"
        "```yaml\n"
        "defaults:\n"
        "  max_lost_share: 0.2\n"
        "  map_limits: {max_new_dead_links: 5}\n"
        "  text_limits: {max_flag_growth: 0.05}\n"
        "  check_severity: {no_new_dead_links: error, vanished_within_share: warn}\n"
        "```",
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
    limits = {name: getattr(BUILT_IN, name) for name in KNOWN_KEYS} | asdict(MapLimits()) | asdict(TextLimits())
    named = [word for word in re.findall(r"\w+", description) if word in limits]
    return ", ".join(f"`{name}` {limits[name]:g}" for name in named)
