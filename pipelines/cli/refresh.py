"""The refresh command: ask a site for the pages that are due, in a Dagster run in this process."""

import json
from typing import Any, Final

import dagster as dg
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from assets import names
from assets.partitions import sites
from pipelines.build import build
from pipelines.cli.crawl import FAILED, INTERRUPTED, failures, site_and_seeds, was_interrupted
from pipelines.cli.parts import deployment_for
from pipelines.cli.progress_view import RichProgress
from pipelines.jobs import refresh_site

NOTHING_TO_DO: Final = 3

_SHOWN: Final = ("outcome", "reason", "pages_asked", "payloads_changed", "payloads_as_before", "new_pages")


def refresh(site_or_url: str, *, max_pages: int | None, store: str | None, as_json: bool) -> int:
    """Refresh a site; give the exit code.

    Raises:
        IsobathError: an argument, a setting or the store is wrong; nothing was started.
    """
    site, _ = site_and_seeds(site_or_url)
    errors = Console(stderr=True, soft_wrap=True)
    with RichProgress(errors) as progress:
        deployment = deployment_for(store, max_depth=None, progress=progress)
        deployment.resources["catalog"].settings(site)
        deployment.objects.check()
        with dg.DagsterInstance.get() as instance:
            instance.add_dynamic_partitions(str(sites.name), [site])
            result = (
                build(deployment)
                .resolve_job_def(refresh_site.name)
                .execute_in_process(
                    instance=instance,
                    partition_key=site,
                    run_config={
                        "ops": {"refresh": {"config": {} if max_pages is None else {"max_pages": max_pages}}},
                        "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
                    },
                    tags={"isobath/started_by": "command line"},
                    raise_on_error=False,
                )
            )
    if was_interrupted(result):
        errors.print("isobath: interrupted; what was fetched is stored, and the same command carries on")
        return INTERRUPTED
    if not result.success:
        for sentence in failures(result):
            errors.print(f"[red]isobath:[/red] {escape(sentence)}", highlight=False)
        return FAILED
    told = _report(result)
    if as_json:
        Console(soft_wrap=True).print_json(json.dumps({"site": site, **told}))
    else:
        table = Table("measure", "value", title=escape(site), title_justify="left")
        for name, value in told.items():
            table.add_row(name.replace("_", " "), escape(str(value)))
        Console(soft_wrap=True).print(table)
    return 0 if told["outcome"] == "ok" else NOTHING_TO_DO


def _report(result: dg.ExecuteInProcessResult) -> dict[str, Any]:
    for event in result.asset_materializations_for_node("refresh"):
        if event.asset_key == names.REFRESH_REPORT:
            return {name: event.metadata[name].value for name in _SHOWN if name in event.metadata}
    raise RuntimeError("a refresh that succeeded made its report")
