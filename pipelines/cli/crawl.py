"""The crawl command: an ordinary Dagster run in this process, with a live view and a summary."""

import json
from dataclasses import dataclass
from typing import Any

import dagster as dg
from rich.console import Console
from rich.markup import escape

from assets.partitions import sites
from assets.url.host import host_key, site_key_problem
from assets.url.parse import parse
from pipelines.build import build
from pipelines.cli.exit_codes import FAILED, INTERRUPTED, NOTHING_DONE
from pipelines.cli.instance import open_instance
from pipelines.cli.parts import deployment_for
from pipelines.cli.progress_view import RichProgress
from pipelines.cli.summary import crawl_summary, print_summary
from pipelines.deployments import Deployment
from pipelines.jobs import CRAWL_SITE
from resources.errors import BadSettings


@dataclass(frozen=True, slots=True)
class CrawlRequest:
    """What a person asked for on the command line; None leaves the site's settings."""

    url: str
    max_depth: int | None = None
    max_pages: int | None = None
    min_delay_s: float | None = None
    allow_private_networks: bool | None = None
    new_crawl: bool = False


def site_and_seeds(url: str) -> tuple[str, list[str]]:
    """Give the site key of an address and the seeds that it names; a bare host name names none.

    Raises:
        BadSettings: the address is not one that can be crawled.

    >>> site_and_seeds("https://docs.example.org/guide/")
    ('docs.example.org', ['https://docs.example.org/guide/'])
    >>> site_and_seeds("docs.example.org")
    ('docs.example.org', [])
    """
    if "://" not in url:
        host = url.partition("/")[0].lower()
        if site_key_problem(host):
            raise BadSettings(_no_address(url))
        if host == url.lower():
            return host, []
        url = f"https://{url}"
    address = parse(url)
    key = host_key(address) if address else ""
    if not address or not key.startswith(("http://", "https://")):
        raise BadSettings(_no_address(url))
    return key.partition("://")[2], [address]


def _no_address(text: str) -> str:
    return f"{text!r} is not an address to crawl: use a form such as https://docs.example.org/"


def crawl_site(request: CrawlRequest, *, store: str | None, as_json: bool) -> int:
    """Crawl a site; give the exit code.

    Raises:
        IsobathError: an argument, a setting or the store is wrong; nothing was started.
    """
    site, seeds = site_and_seeds(request.url)
    errors = Console(stderr=True, soft_wrap=True)
    with RichProgress(errors) as progress:
        deployment = deployment_for(store, max_depth=request.max_depth, progress=progress)
        # Ask before anything starts, so that a mistake is one sentence and not a failed run.
        deployment.resources["catalog"].settings(site)
        deployment.objects.check()
        result = _run(deployment, site, seeds, request)
    if was_interrupted(result):
        errors.print("isobath: interrupted; what was fetched is stored, and the same command carries on")
        return INTERRUPTED
    summary = crawl_summary(deployment, site)
    if not result.success:
        for sentence in failures(result):
            errors.print(f"[red]isobath:[/red] {escape(sentence)}", highlight=False)
        return FAILED
    if as_json:
        Console(soft_wrap=True).print_json(json.dumps(summary))
    else:
        print_summary(summary, Console(soft_wrap=True))
    if summary["outcome"] != "ok":
        errors.print(f"[red]isobath:[/red] {site} was not crawled: {escape(summary['reason'])}", highlight=False)
        return NOTHING_DONE
    return 0


def _run(deployment: Deployment, site: str, seeds: list[str], request: CrawlRequest) -> dg.ExecuteInProcessResult:
    config: dict[str, Any] = {
        "max_depth": request.max_depth,
        "max_pages": request.max_pages,
        "min_delay_s": request.min_delay_s,
        "allow_private_networks": request.allow_private_networks,
        "seeds": seeds or None,
        "new_crawl": request.new_crawl,
    }
    try:
        with open_instance() as instance:
            instance.add_dynamic_partitions(str(sites.name), [site])
            return (
                build(deployment)
                .resolve_job_def(CRAWL_SITE)
                .execute_in_process(
                    instance=instance,
                    partition_key=site,
                    run_config={
                        "ops": {"crawl": {"config": {k: v for k, v in config.items() if v is not None}}},
                        # The run's own log is in the UI; the terminal has the live view.
                        "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
                    },
                    tags={"isobath/started_by": "command line"},
                    raise_on_error=False,
                )
            )
    finally:
        deployment.resources["workers"].close()


def was_interrupted(result: dg.ExecuteInProcessResult) -> bool:
    """Tell whether a person broke into a run."""
    errors = [event.step_failure_data.error for event in result.all_events if event.is_step_failure]
    return any(error is not None and error.cls_name == "DagsterExecutionInterruptedError" for error in errors)


def failures(result: dg.ExecuteInProcessResult) -> list[str]:
    """Give what the failed steps of a run say, one sentence each."""
    sentences = []
    for event in result.all_events:
        if not event.is_step_failure:
            continue
        data = event.step_failure_data
        told = data.user_failure_data.description if data.user_failure_data else None
        cause = data.error.cause or data.error if data.error else None
        sentences.append(f"{event.step_key}: {told or (cause.message.strip() if cause else 'failed')}")
    return sentences
