"""The files of ``deploy/``, as far as they can be tried without Docker and Kubernetes."""

import re
from typing import Any

import pytest
import yaml
from dagster._core.instance.config import dagster_instance_config

from pipelines.deployments import VARIABLES
from pipelines.project import PROJECT

DEPLOY = PROJECT / "deploy"


def _read(name: str) -> Any:
    return yaml.safe_load((DEPLOY / name).read_text())


def test_the_instance_of_several_machines_is_one_that_dagster_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOBATH_DAGSTER_POSTGRES", "postgresql+psycopg2://isobath@127.0.0.1:1/isobath")
    monkeypatch.setenv("ISOBATH_BROKER", "redis://127.0.0.1:1/0")
    settings, _ = dagster_instance_config(str(DEPLOY))
    assert settings["run_launcher"]["class"] == "ClusterRunLauncher"


def test_all_instances_limit_runs_alike() -> None:
    one = yaml.safe_load((PROJECT / "dagster_home" / "dagster.yaml").read_text())
    several = _read("dagster.yaml")
    chart = _read("kubernetes/values.yaml")["dagsterDaemon"]
    limits = one["concurrency"]["runs"]["tag_concurrency_limits"]
    assert several["concurrency"]["runs"]["tag_concurrency_limits"] == limits
    assert chart["runCoordinator"]["config"]["queuedRunCoordinator"]["tagConcurrencyLimits"] == limits
    assert several["run_retries"]["retry_on_asset_or_op_failure"] is chart["runRetries"]["retryOnAssetOrOpFailure"]


def test_a_lost_run_is_given_up_after_its_leases_have_ended() -> None:
    default = re.search(r"default: (\d+)", VARIABLES["ISOBATH_LEASE_S"])
    assert default is not None
    assert _read("dagster.yaml")["run_launcher"]["config"]["lost_after_s"] > int(default[1])


def test_the_compose_file_starts_each_part_of_one_image() -> None:
    services = _read("docker-compose.yaml")["services"]
    ours = {name: service for name, service in services.items() if service.get("image") == "isobath"}
    assert {name: service["command"][0] for name, service in ours.items()} == {
        "web": "dagster-webserver",
        "daemon": "dagster-daemon",
        "worker": "celery",
    }
    for service in ours.values():
        assert service["depends_on"].keys() <= services.keys()


@pytest.mark.parametrize("name", [path.name for path in DEPLOY.iterdir() if path.is_file()])
def test_files_name_only_settings_that_exist(name: str) -> None:
    assert set(re.findall(r"ISOBATH_[A-Z_]+", (DEPLOY / name).read_text())) <= VARIABLES.keys()
