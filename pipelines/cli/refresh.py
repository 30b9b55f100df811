"""The refresh command: ask sites for the pages that are due, in one Dagster run in this process."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import dagster as dg
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from assets import names
from assets.partitions import sites
from pipelines.build import build
from pipelines.cli.crawl import failures, site_and_seeds, was_interrupted
from pipelines.cli.exit_codes import FAILED, INTERRUPTED, NOTHING_DONE
from pipelines.cli.instance import open_instance
from pipelines.cli.parts import deployment_for
from pipelines.cli.progress_view import RichProgress
from pipelines.jobs import REFRESH_SITES, refresh_site
from pipelines.refresh_batch import batch_run_config

_SHOWN: Final = ("outcome", "reason", "pages_asked", "payloads_changed", "payloads_as_before", "new_pages")


def refresh(sites_or_urls: Sequence[str], *, max_pages: int | None, store: str | None, as_json: bool) -> int:
    """Refresh sites; give the exit code. One that fails among several leaves the others be.

    Raises:
        IsobathError: an argument, a setting or the store is wrong; nothing was started.
    """
    wanted = list(dict.fromkeys(site_and_seeds(one)[0] for one in sites_or_urls))
    errors = Console(stderr=True, soft_wrap=True)
    with RichProgress(errors) as progress:
        deployment = deployment_for(store, max_depth=None, progress=progress)
        for site in wanted:
            deployment.resources["catalog"].settings(site)
        deployment.objects.check()
        with open_instance() as instance:
            instance.add_dynamic_partitions(str(sites.name), wanted)
            result = _run(build(deployment), instance, wanted, {} if max_pages is None else {"max_pages": max_pages})
    if was_interrupted(result):
        errors.print("isobath: interrupted; what was fetched is stored, and the same command carries on")
        return INTERRUPTED
    if not result.success:
        for sentence in failures(result):
            errors.print(f"[red]isobath:[/red] {escape(sentence)}", highlight=False)
    told = _reports(result, wanted)
    if as_json:
        reports = [{"site": site, **report} for site, report in told.items()]
        # One site gives an object, several give a list, whatever becomes of them.
        for one in [reports] if len(wanted) > 1 else reports:
            Console(soft_wrap=True).print_json(json.dumps(one))
    elif told:
        Console(soft_wrap=True).print(_table(told))
    if not result.success:
        return FAILED
    return 0 if any(report["outcome"] == "ok" for report in told.values()) else NOTHING_DONE


def _run(
    definitions: dg.Definitions, instance: dg.DagsterInstance, wanted: Sequence[str], config: dict[str, int]
) -> dg.ExecuteInProcessResult:
    """Start the job of one site, or that of many."""
    one = len(wanted) == 1
    own: dict[str, Any] = (
        {"ops": {"refresh": {"config": config}}} if one else batch_run_config(REFRESH_SITES, wanted, **config)
    )
    return definitions.resolve_job_def(refresh_site.name if one else REFRESH_SITES).execute_in_process(
        instance=instance,
        partition_key=wanted[0] if one else None,
        run_config={**own, "loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
        tags={"isobath/started_by": "command line"},
        raise_on_error=False,
    )


def _reports(result: dg.ExecuteInProcessResult, wanted: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Give what was reported of each site whose refresh came to its end."""
    found: dict[str, dict[str, Any]] = {}
    for event in result.all_events:
        if event.is_step_materialization and event.asset_key == names.REFRESH_REPORT:
            metadata = event.step_materialization_data.materialization.metadata
            found[str(event.partition)] = {name: metadata[name].value for name in _SHOWN if name in metadata}
    return {site: found[site] for site in wanted if site in found}


def _table(told: Mapping[str, Mapping[str, Any]]) -> Table:
    """Lay reports out, a column a site when there is one, else a row."""
    if len(told) == 1:
        (site, report), *_ = told.items()
        table = Table("measure", "value", title=escape(site), title_justify="left")
        for name, value in report.items():
            table.add_row(name.replace("_", " "), escape(str(value)))
        return table
    table = Table("site", *(name.replace("_", " ") for name in _SHOWN))
    for site, report in told.items():
        table.add_row(escape(site), *(escape(str(report.get(name, ""))) for name in _SHOWN))
    return table
