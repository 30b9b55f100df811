"""Parts for the command line: a deployment with the flags over the environment."""

import os
from dataclasses import replace
from pathlib import Path

from pipelines.deployments import Deployment, deploy, environment_settings, settings_from
from resources.ports import Progress


def deployment_for(store: str | None, *, max_depth: int | None = None, progress: Progress | None = None) -> Deployment:
    """Pick the parts; a flag wins over its variable.

    Raises:
        BadSettings: a variable or flag is wrong.
    """
    if store is None:
        settings = environment_settings()
    else:
        named = store if "://" in store else str(Path(store).absolute())
        # The index of another store is another index.
        inherited = {name: value for name, value in os.environ.items() if name != "ISOBATH_INDEX"}
        settings = settings_from({**inherited, "ISOBATH_STORE": named})
    if max_depth is not None and max_depth > settings.max_depth:
        settings = replace(settings, max_depth=max_depth)
    return deploy(settings, progress=progress)
