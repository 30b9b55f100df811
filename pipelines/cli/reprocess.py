"""The reprocess command: derive sites again from what is stored, one Dagster run a site in this process."""

import json
from collections.abc import Sequence

import dagster as dg
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from assets.crawl.crawl_log import latest_crawls
from assets.partitions import sites
from pipelines.build import build
from pipelines.cli.crawl import failures, site_and_seeds, was_interrupted
from pipelines.cli.exit_codes import FAILED, INTERRUPTED
from pipelines.cli.instance import open_instance
from pipelines.cli.parts import deployment_for
from pipelines.jobs import map_only, reprocess
from resources.errors import BadSettings

Numbers = dict[str, dict[str, int]]  # asset -> measure -> number


def reprocess_sites(sites_or_urls: Sequence[str], *, only_map: bool, store: str | None, as_json: bool) -> int:
    """Derive sites again; give the exit code. One that fails leaves the others be.

    Raises:
        BadSettings: a site was never crawled; nothing was started.
    """
    wanted = list(dict.fromkeys(site_and_seeds(one)[0] for one in sites_or_urls))
    deployment = deployment_for(store)
    deployment.objects.check()
    strangers = sorted(set(wanted) - latest_crawls(deployment.tables).keys())
    if strangers:
        raise BadSettings(f"{', '.join(strangers)}: never crawled, so there is nothing to derive again")
    errors = Console(stderr=True, soft_wrap=True)
    told: dict[str, Numbers] = {}
    failed = False
    job = build(deployment).resolve_job_def((map_only if only_map else reprocess).name)
    with open_instance() as instance:
        instance.add_dynamic_partitions(str(sites.name), wanted)
        for site in wanted:
            result = job.execute_in_process(
                instance=instance,
                partition_key=site,
                run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
                tags={"isobath/started_by": "command line"},
                raise_on_error=False,
            )
            if was_interrupted(result):
                errors.print("isobath: interrupted; what was derived is stored")
                return INTERRUPTED
            for sentence in failures(result):
                errors.print(f"[red]isobath:[/red] {site}: {escape(sentence)}", highlight=False)
            failed |= not result.success
            told[site] = _numbers(result)
    if as_json:
        Console(soft_wrap=True).print_json(json.dumps([{"site": site, "assets": told[site]} for site in wanted]))
    else:
        Console(soft_wrap=True).print(_table(told))
    return FAILED if failed else 0


def _numbers(result: dg.ExecuteInProcessResult) -> Numbers:
    """Give what each asset that was made counted."""
    told: Numbers = {}
    for event in result.all_events:
        if event.is_step_materialization:
            made = event.step_materialization_data.materialization
            told[made.asset_key.to_user_string()] = {
                name: value.value
                for name, value in made.metadata.items()
                if isinstance(value, dg.IntMetadataValue) and value.value is not None
            }
    return told


def _table(told: dict[str, Numbers]) -> Table:
    table = Table("site", "asset", "numbers")
    for site, assets in told.items():
        for asset, numbers in assets.items():
            shown = ", ".join(f"{name.replace('_', ' ')} {number:,}" for name, number in numbers.items())
            table.add_row(escape(site), asset, shown)
    return table
