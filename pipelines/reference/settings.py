"""The page of the settings: environment variables, keys of sites.yaml, run config."""

import re
from typing import Any, Final

import dagster as dg
from pydantic_core import PydanticUndefined

from assets.crawl.config import CrawlConfig, RefreshConfig
from pipelines.deployments import VARIABLES
from pipelines.project import PROJECT
from pipelines.reference.markdown import code, page, table
from resources.ports import SiteSettings
from resources.site_entry import SettingsEntry

BUILT_IN: Final = SiteSettings("any site")
_SETTING: Final = re.compile(r"^#\s+(\w+):.*?\s#\s(.+)$")
_GOES_ON: Final = re.compile(r"^#\s{8,}#\s(.+)$")


def settings_page() -> str:
    """Make the page."""
    said = site_meanings((PROJECT / "sites.yaml").read_text())
    return page(
        "Settings",
        "## Environment variables",
        table(["variable", "meaning"], ([code(name), meaning] for name, meaning in VARIABLES.items())),
        "## sites.yaml",
        "Each key stands under a site, or under `defaults:` for all. Run config wins over a site's entry, which wins "
        "over `defaults`, which win over what is built in.",
        table(
            ["key", "built in", "must be", "meaning"],
            (
                [code(name), _shown(getattr(BUILT_IN, name)), field.description or "", said[name]]
                for name, field in SettingsEntry.model_fields.items()
            ),
        ),
        "## Run config",
        "What the launchpad takes for one run. A field that is not given leaves the site's setting as it is.",
        *(
            part
            for name, config in (("crawl", CrawlConfig), ("refresh", RefreshConfig))
            for part in _config(name, config)
        ),
    )


def site_meanings(text: str) -> dict[str, str]:
    """Give what the comments of the shipped sites.yaml say of each key.

    >>> site_meanings("#   a: 1   # one thing,\\n#            # and more\\n#   b: 2   # another\\n")
    {'a': 'one thing, and more', 'b': 'another'}
    """
    said: dict[str, str] = {}
    last = ""
    for line in text.splitlines():
        if found := _SETTING.match(line):
            last = found[1]
            said[last] = found[2].strip()
        elif (found := _GOES_ON.match(line)) and last:
            said[last] += f" {found[1].strip()}"
    return said


def _config(name: str, config: type[dg.Config]) -> tuple[str, str]:
    fields = config.model_fields.items()
    rows = ([code(field), _shown(about.default), about.description or ""] for field, about in fields)
    return f"### {name}", table(["field", "default", "meaning"], rows)


def _shown(value: Any) -> str:
    if value is None or value == "" or value is PydanticUndefined:
        return "none"
    if isinstance(value, tuple | list):
        return ", ".join(map(str, value)) or "none"
    return code(str(value).lower() if isinstance(value, bool) else str(value))
