"""Kill benchmark: ``python -m bench.kills [--store folder|s3|both] [--kills 50] [--seed N] [--pages 300]``.

Crawls a loopback site with the ``isobath`` command, kills it at random moments of the time that a whole crawl takes,
carries it on, and begins anew with a fresh site and store when a crawl has come to its end. Exits with 1 when anything
that must hold does not.
"""

import argparse
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from bench.kills.lives import DERIVED, Kill, stages
from bench.kills.rounds import Tally, crawl_in_peace, killed_crawls
from tests.support.s3_server import s3_server

STORES: Final = ("folder", "s3")


def main() -> None:
    """Kill crawls and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", choices=[*STORES, "both"], default="both")
    parser.add_argument("--kills", type=int, default=50, help="on each store")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    parser.add_argument("--pages", type=int, default=300)
    arguments = parser.parse_args()
    console = Console(soft_wrap=True)
    console.print(f"seed {arguments.seed}")
    failed = False
    for kind in STORES if arguments.store == "both" else (arguments.store,):
        with ExitStack() as stack:
            environment = stack.enter_context(s3_server()) if kind == "s3" else {}
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kills-")))
            tally = killed_crawls(
                environment,
                folder,
                crawl_in_peace(environment, folder, pages=arguments.pages),
                pages=arguments.pages,
                kills=arguments.kills,
                seed=arguments.seed,
                told=lambda kill: console.print(f"  {kill}", highlight=False),
            )
        console.print(summary(kind, tally))
        for sentence in tally.violations:
            console.print(sentence, style="red", markup=False)
        failed |= bool(tally.violations)
    raise SystemExit(failed)


def summary(kind: str, tally: Tally) -> Table:
    """Show the kills by stage, and what they left behind."""
    table = Table(
        title=f"{kind}: {len(tally.kills)} kills in {tally.rounds} rounds, {len(tally.violations)} violations",
        title_justify="left",
    )
    for heading in ("killed in", "kills", "unfinished writes", "scratch files", "files without rows"):
        table.add_column(heading, justify="left" if heading == "killed in" else "right")
    for stage in (*stages(), DERIVED):
        if hit := [kill for kill in tally.kills if kill.stage == stage]:
            table.add_row(stage, str(len(hit)), *_left(hit))
    table.add_section()
    table.add_row("all", str(len(tally.kills)), *_left(tally.kills))
    return table


def _left(kills: Sequence[Kill]) -> list[str]:
    return [
        str(sum(kill.unfinished for kill in kills)),
        str(sum(kill.scratch for kill in kills)),
        str(sum(kill.orphans for kill in kills)),
    ]


if __name__ == "__main__":
    main()
