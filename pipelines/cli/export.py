"""The export command: live pages as files."""

import json
from pathlib import Path

from rich.console import Console

from pipelines.cli.parts import deployment_for
from pipelines.export import Choice, Format, export_pages


def export(folder: Path, kind: Format, choice: Choice, *, store: str | None, as_json: bool) -> int:
    """Write the chosen pages into a new folder and say how many.

    Raises:
        BadSettings: the folder holds something, or a site is not known.
    """
    deployment = deployment_for(store)
    now = deployment.resources["clock"].now()
    manifest = export_pages(deployment.tables, folder, kind, choice, exported_at=now)
    console = Console(soft_wrap=True)
    if as_json:
        console.print_json(json.dumps(manifest, ensure_ascii=False))
    else:
        size_bytes = sum(file["bytes"] for file in manifest["files"])
        console.print(
            f"{manifest['pages']} pages of {len(manifest['pages_by_site'])} sites in {len(manifest['files'])} files, "
            f"{size_bytes} bytes: {folder}",
            highlight=False,
        )
    return 0
