"""The conformance report: ``make conformance`` prints it. Ends with 1 when a floor does not hold."""

import sys

from rich.console import Console
from rich.table import Table

from tests.conformance.sets import DATA, SETS


def main() -> int:
    """Print all scores; name the sets whose data is not here."""
    table = Table(title="Conformance", title_justify="left")
    for heading in ("set", "passed", "total", "floor", ""):
        table.add_column(heading, justify="left" if heading in ("set", "") else "right")
    holds = True
    for name, numbers in SETS.items():
        if not (DATA / name).is_dir():
            table.add_row(name, "", "", "", f"skipped: {DATA.name}/{name} of the reference data is not here")
            continue
        for score in numbers(DATA / name):
            holds = holds and score.ok
            verdict = "" if score.ok else "below its floor"
            table.add_row(score.name, str(score.passed), str(score.total), str(score.floor), verdict)
    Console().print(table)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
