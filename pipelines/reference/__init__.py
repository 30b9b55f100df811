"""The reference: pages of ``docs/reference`` that are made from the code, so that they cannot say anything else.

Made anew by ``python -m pipelines.reference``. What explains, teaches or compares is written by hand, elsewhere.
"""

from collections.abc import Callable, Mapping
from typing import Final

from pipelines.reference.checks import checks_page
from pipelines.reference.commands import commands_page
from pipelines.reference.outcomes import outcomes_page
from pipelines.reference.settings import settings_page
from pipelines.reference.tables import tables_page

PAGES: Final[Mapping[str, Callable[[], str]]] = {
    "checks.md": checks_page,
    "commands.md": commands_page,
    "outcomes.md": outcomes_page,
    "settings.md": settings_page,
    "tables.md": tables_page,
}

__all__ = ["PAGES"]
