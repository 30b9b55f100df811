"""The code location that Dagster loads."""

from pipelines.build import build
from pipelines.deployments import deploy, environment_settings

defs = build(deploy(environment_settings()))
