"""The report command: the page about a site's last crawl."""

import webbrowser
from pathlib import Path

from rich.console import Console
from rich.text import Text

from assets.site_map.report import report_of_site
from pipelines.cli.crawl import site_and_seeds
from pipelines.cli.parts import deployment_for


def write_report(site_or_url: str, *, out: Path | None, is_shown: bool, store: str | None) -> int:
    """Write the report of a site anew and say where it lies; copy it to a file, or show it, when that is wanted.

    Raises:
        StageMissing: the site was not mapped.
    """
    deployment = deployment_for(store)
    site, _ = site_and_seeds(site_or_url)
    report = report_of_site(site, deployment.tables, deployment.objects, deployment.resources["engine"])
    location = report.location
    if out is not None:
        out.write_bytes(deployment.objects.get(report.key))
        location = str(out)
    Console(soft_wrap=True).print(Text(location))
    if is_shown:
        webbrowser.open(location if "://" in location else Path(location).absolute().as_uri())
    return 0
