"""Where the project lies: its folder holds sites.yaml, dagster_home and, unless told otherwise, the store."""

from pathlib import Path
from typing import Final

PROJECT: Final = Path(__file__).resolve().parent.parent
