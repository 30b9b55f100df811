"""The page of the tables: what a row is, which assets write it, and each column."""

import re

from assets.schemas import TABLES
from assets.table_metadata import meaning, tables_of
from pipelines.project import PROJECT
from pipelines.reference.definitions import reference_definitions
from pipelines.reference.markdown import code, page, table

_ROW = re.compile(r"^\| `(\w+)` \| (.+) \|$", re.MULTILINE)


def tables_page() -> str:
    """Make the page."""
    _, _, listed = (PROJECT / "README.md").read_text().partition("| table | a row is |\n")
    rows = dict(_ROW.findall(listed.partition("\n\n")[0].replace("](docs/", "](../")))
    return page(
        "Tables",
        "Each is a Delta Lake table in `tables/<name>` of the store, partitioned by `site`. The meaning of a column "
        "stands in the table's own schema too, and in the Dagster UI with the assets that write it.",
        *(
            part
            for name in TABLES
            for part in (f"## {name}", f"A row is {rows[name]}. {_writers(name)}", _columns(name))
        ),
    )


def _writers(name: str) -> str:
    # The layers do the same, one after the other.
    writers = {
        re.sub(r"_\d+/", "_N/", spec.key.to_user_string())
        for spec in reference_definitions().resolve_all_asset_specs()
        if name in tables_of(spec.metadata)
    }
    return f"Written by {', '.join(map(code, sorted(writers)))}."


def _columns(name: str) -> str:
    return table(
        ["column", "type", "may be null", "meaning"],
        (
            [code(field.name), code(str(field.type)), "yes" if field.nullable else "", meaning(field)]
            for field in TABLES[name]
        ),
    )
