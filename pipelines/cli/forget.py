"""The command that forgets a site: asks twice, then runs the job in this process."""

import json
from typing import Any

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
from pipelines.deployments import Deployment
from pipelines.forget import FORGET, FORGET_SITE, forget_run_config
from resources.errors import BadSettings


def forget(name_or_url: str, *, raw: bool, yes: str | None, store: str | None, as_json: bool) -> int:
    """Forget a site; give the exit code.

    Args:
        name_or_url: of the site; a partition that was typed into the UI and is no site can be forgotten as well.
        raw: its WARC files too.
        yes: the site once more, given instead of the answers; None: ask.
        store: of which; None: that of the environment.
        as_json: print JSON.

    Raises:
        BadSettings: the site is not known, or was not confirmed; nothing was removed.
    """
    deployment = deployment_for(store)
    deployment.objects.check()
    errors = Console(stderr=True, soft_wrap=True)
    with open_instance() as instance:
        is_known = _is_known(name_or_url, deployment, instance)
        site = name_or_url if is_known else site_and_seeds(name_or_url)[0]
        if not is_known and not _is_known(site, deployment, instance):
            raise BadSettings(f"Nothing is known of a site {site!r}: isobath sites lists those that are")
        if not (_is_confirmed(site, raw=raw, errors=errors) if yes is None else yes == site):
            raise BadSettings(f"Nothing was removed: that was not {site!r}")
        result = (
            build(deployment)
            .resolve_job_def(FORGET_SITE)
            .execute_in_process(
                instance=instance,
                run_config={
                    **forget_run_config(site, raw=raw),
                    "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
                },
                tags={"isobath/started_by": "command line"},
                raise_on_error=False,
            )
        )
    if was_interrupted(result):
        errors.print("isobath: interrupted; the same command finishes what it began")
        return INTERRUPTED
    if not result.success:
        for sentence in failures(result):
            errors.print(f"[red]isobath:[/red] {escape(sentence)}", highlight=False)
        return FAILED
    _print(_told(result), as_json=as_json)
    return 0


def _is_known(site: str, deployment: Deployment, instance: dg.DagsterInstance) -> bool:
    return (
        instance.has_dynamic_partition(str(sites.name), site)
        or site in latest_crawls(deployment.tables)
        or next(deployment.objects.list(f"raw/site={site}/"), None) is not None
    )


def _is_confirmed(site: str, *, raw: bool, errors: Console) -> bool:
    """Ask twice: once whether, once for the name."""
    what = "documents, rows, reports and WARC files" if raw else "documents, rows and reports; its WARC files stay"
    errors.print(f"This removes {escape(site)}: {what}. It cannot be undone.", highlight=False)
    try:
        return errors.input("Go on? \\[y/N] ").strip().lower() in ("y", "yes") and (
            errors.input("Type the site once more: ").strip() == site
        )
    except EOFError:
        return False


def _told(result: dg.ExecuteInProcessResult) -> dict[str, Any]:
    (event,) = [event for event in result.all_events if event.is_successful_output and event.step_key == FORGET]
    return {name: value.value for name, value in event.step_output_data.metadata.items()}


def _print(told: dict[str, Any], *, as_json: bool) -> None:
    console = Console(soft_wrap=True)
    if as_json:
        console.print_json(json.dumps(told))
        return
    table = Table("measure", "value")
    for name, value in told.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        table.add_row(name.replace("_", " "), escape(shown))
    console.print(table)
