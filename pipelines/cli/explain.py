"""The explain command: what would happen to an address, and why."""

import json
from collections.abc import Iterable
from dataclasses import asdict

from rich.console import Console
from rich.table import Table
from rich.text import Text

from assets.crawl.explain import Explanation, explain
from assets.crawl.walk import remembered_seeds
from assets.url.host import host_key
from assets.url.parse import parse
from pipelines.cli.parts import deployment_for
from pipelines.deployments import Deployment
from resources.errors import BadSettings

_QUESTIONS = {
    "url": "is requested as",
    "url_key": "is the same page as",
    "host_key": "is asked at",
    "scope": "scope",
    "trap": "trap",
    "robots": "robots.txt",
    "alias": "is an alias of",
    "aliases": "has the aliases",
    "frontier": "was to be fetched",
    "refusal": "was refused",
    "last_fetch": "last request",
    "page": "page",
    "duplicate_of": "duplicate of",
    "indexed": "in the index",
}


def print_explanation(address: str, *, site: str | None, store: str | None, as_json: bool) -> int:
    """Print what a crawl does with an address; nothing is sent."""
    site, found = explained(deployment_for(store), address, site)
    console = Console(soft_wrap=True)
    if as_json:
        console.print_json(json.dumps({"site": site, **asdict(found)}, ensure_ascii=False))
    else:
        console.print(Text(found.verdict, style="bold"))
        print_answers(found, _QUESTIONS, console)
    return 0


def explained(deployment: Deployment, address: str, site: str | None) -> tuple[str, Explanation]:
    """Explain an address in its site; give the site too.

    Raises:
        BadSettings: the site was not given and the address does not say it.
    """
    if site is None:
        url = parse(address)
        site = host_key(url).partition("://")[2] if url else ""
        if not site:
            raise BadSettings(f"{address!r} names no host: say which site it belongs to with --site")
    settings = deployment.resources["catalog"].settings(site)
    seeds = remembered_seeds(deployment.tables, site)
    return site, explain(address, settings, seeds, deployment.tables, now=deployment.resources["clock"].now())


def print_answers(found: Explanation, names: Iterable[str], console: Console) -> None:
    """Print those of the answers that say something."""
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column()
    table.add_column(overflow="fold")
    for name in names:
        value = getattr(found, name)
        answer = "\n".join(value) if isinstance(value, tuple) else value
        if answer:
            table.add_row(Text(_QUESTIONS[name], style="bold"), Text(answer))
    console.print(table)
