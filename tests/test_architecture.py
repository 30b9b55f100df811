"""The house: quiet imports, small files, a room map that tells the truth, contracts that hold."""

import doctest
import importlib
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import assets
import pipelines
import resources
from assets import names
from assets.schemas import TABLES
from pipelines.deployments import VARIABLES

ROOT = Path(__file__).resolve().parent.parent
MAX_LINES = 300
MODULES = sorted(
    info.name
    for package in (assets, resources, pipelines)
    for info in pkgutil.walk_packages(package.__path__, package.__name__ + ".")
    if not info.name.endswith("__main__")
)


def own_files() -> list[Path]:
    return sorted(
        path
        for folder in ("assets", "resources", "pipelines", "tests", "bench")
        for path in (ROOT / folder).rglob("*.py")
    )


@pytest.mark.parametrize("path", own_files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_file_is_long(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= MAX_LINES


def test_no_file_has_a_name_without_a_subject() -> None:
    assert not [path for path in own_files() if path.stem in {"utils", "helpers", "common", "misc", "util", "helper"}]


@pytest.mark.parametrize("name", MODULES)
def test_doctests_hold(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.slow
def test_imports_are_quiet_and_touch_nothing(tmp_path: Path) -> None:
    code = "import importlib\n" + "\n".join(f"importlib.import_module({name!r})" for name in MODULES)
    environment = {**os.environ, "ISOBATH_STORE": str(tmp_path / "store"), "DAGSTER_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        capture_output=True,
        text=True,
        env=environment,
        cwd=ROOT,
        timeout=120,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_import_contracts_hold() -> None:
    command = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([command, "--no-cache"], capture_output=True, text=True, cwd=ROOT, timeout=120)
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_dagster_loads_the_workspace(tmp_path: Path) -> None:
    environment = {**os.environ, "ISOBATH_STORE": str(tmp_path / "store"), "DAGSTER_HOME": str(tmp_path)}
    command = [str(Path(sys.executable).with_name("dagster")), "definitions", "validate", "-w", "workspace.yaml"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT, timeout=120)
    assert done.returncode == 0, done.stderr


def test_the_graph_has_no_cycle() -> None:
    definitions = importlib.import_module("pipelines.definitions").defs
    assert names.CRAWL_REPORT in definitions.resolve_asset_graph().toposorted_asset_keys


def test_the_readme_names_every_room_setting_and_table() -> None:
    readme = (ROOT / "README.md").read_text()
    rooms = [path.name for path in (ROOT / "assets").iterdir() if path.is_dir() and not path.name.startswith("__")]
    for name in [*rooms, *VARIABLES, *TABLES]:
        assert f"`{name}`" in readme, name


def test_nothing_of_this_machine_is_in_the_tree() -> None:
    for lock in ("requirements.lock", "requirements-dev.lock"):
        lines = (ROOT / lock).read_text().splitlines()
        assert lines
        assert all("==" in line and "://" not in line and " @ " not in line for line in lines)
