"""Definitions that the reference tells of: those of any deployment, since nothing of them depends on one."""

from functools import cache

import dagster as dg

from pipelines.build import build
from pipelines.deployments import deploy, settings_from


@cache
def reference_definitions() -> dg.Definitions:
    """Build the definitions of the built-in settings."""
    return build(deploy(settings_from({})))
