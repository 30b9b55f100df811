"""Parts for the command line: a deployment with the flags over the environment."""

from dataclasses import replace

from pipelines.deployments import Deployment, deploy, environment_settings
from resources.ports import Progress


def deployment_for(store: str | None, *, max_depth: int | None = None, progress: Progress | None = None) -> Deployment:
    """Pick the parts; a flag wins over its variable.

    Raises:
        BadSettings: a variable or flag is wrong.
    """
    settings = environment_settings(store=store)
    if max_depth is not None and max_depth > settings.max_depth:
        settings = replace(settings, max_depth=max_depth)
    return deploy(settings, progress=progress)
