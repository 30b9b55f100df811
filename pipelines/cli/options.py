"""Options that many commands share."""

from typing import Annotated

import typer

StoreOption = Annotated[
    str | None, typer.Option("--store", help="A folder or s3://bucket/prefix; default: ISOBATH_STORE, else ./data.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
SitesArgument = Annotated[list[str], typer.Argument(metavar="SITE...", help="Sites, by name or an address of each.")]
SiteArgument = Annotated[str, typer.Argument(metavar="SITE", help="A site, by name or an address of it.")]
