"""Dagster's instance, as the command line opens it."""

import os
from pathlib import Path

import dagster as dg

from resources.errors import BadSettings


def open_instance() -> dg.DagsterInstance:
    """Open the instance of ``DAGSTER_HOME``; use it as a context manager.

    Raises:
        BadSettings: that is no folder.
    """
    home = os.environ["DAGSTER_HOME"]
    if not Path(home).is_absolute() or not Path(home).is_dir():
        raise BadSettings(
            f"DAGSTER_HOME is '{home}', which is no folder with an absolute path: create it (with a dagster.yaml, as "
            "dagster_home in the project has one), or unset DAGSTER_HOME to use that of the project."
        )
    return dg.DagsterInstance.get()
