"""The metrics command: numbers of sites as Prometheus text, to standard output or into a file that is collected."""

import sys
from collections.abc import Sequence
from pathlib import Path

from assets.site_map.metrics import read_metrics
from pipelines.cli.crawl import site_and_seeds
from pipelines.cli.parts import deployment_for
from resources.errors import BadSettings


def print_metrics(sites_or_urls: Sequence[str], *, out: Path | None, store: str | None) -> int:
    """Print the metrics of sites, of all by default, or write them to a file.

    Raises:
        BadSettings: the file cannot be written.
    """
    wanted = [site_and_seeds(one)[0] for one in sites_or_urls] or None
    text = read_metrics(deployment_for(store).tables, wanted)
    if out is None:
        sys.stdout.write(text)
        return 0
    # A collector must never read half a file.
    part = out.with_name(out.name + ".part")
    try:
        part.write_text(text)
        part.replace(out)
    except OSError as error:
        raise BadSettings(
            f"{out}: cannot be written ({error.strerror}); name a file in a folder that exists"
        ) from error
    return 0
