"""The why command: what happened to an address, what it is today, and when it is asked again."""

import json

from rich.console import Console
from rich.table import Table
from rich.text import Text

from assets.crawl.history import HistoryEvent, history_of
from assets.recrawl.pings import read_pings
from assets.recrawl.serving import explanation_of
from pipelines.cli.explain import explained, print_answers
from pipelines.cli.parts import deployment_for

_TODAY = ("url_key", "page", "alias", "aliases", "duplicate_of", "indexed")


def print_history(address: str, *, site: str | None, store: str | None, as_json: bool) -> int:
    """Print the history of an address; nothing is sent. Gives 1 when nothing is known of it."""
    deployment = deployment_for(store)
    site, today = explained(deployment, address, site)
    pings = [ping for ping in read_pings(deployment.tables, site) if ping.url_key == today.url_key]
    events = sorted(
        [
            *history_of(today.url_key, site, deployment.tables),
            *(HistoryEvent(ping.pinged_at, "", "pinged", f"{ping.url}: by {ping.source}") for ping in pings),
        ]
    )
    schedule = explanation_of(deployment.tables, site, today.url_key, deployment.resources["clock"].now())
    due = schedule.sentence if schedule else ""
    console = Console(soft_wrap=True)
    if as_json:
        facts = {name: getattr(today, name) for name in _TODAY}
        console.print_json(
            json.dumps({"site": site, **facts, "schedule": due, "history": [_plain(event) for event in events]})
        )
    elif not events:
        console.print(f"Nothing is known of {today.url_key} in {site}.")
    else:
        table = Table(show_header=False, box=None, pad_edge=False)
        table.add_column()
        table.add_column()
        table.add_column(overflow="fold")
        for event in events:
            table.add_row(f"{event.at:%Y-%m-%d %H:%M:%S}", Text(event.what, style="bold"), Text(event.detail))
        console.print(table)
        print_answers(today, _TODAY, console)
        if due:
            console.print(Text.assemble(("schedule ", "bold"), due))
    return 0 if events else 1


def _plain(event: HistoryEvent) -> dict[str, str]:
    return {"at": event.at.isoformat(), "crawl_id": event.crawl_id, "what": event.what, "detail": event.detail}
