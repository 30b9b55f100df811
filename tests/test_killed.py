"""Crawls that are killed or interrupted: what was published is kept and not asked again, and nothing is left over."""

import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from dagster import DagsterInstance

from bench.kills.checks import violations
from bench.kills.lives import NOT_PAGES, Ground
from bench.kills.rounds import Peace, crawl_in_peace, killed_crawls, store_view
from bench.kills.site import killing_site
from tests.support.loopback import LoopbackSite

pytestmark = pytest.mark.slow

PAGES = 50
KILLS = 3


@pytest.fixture(scope="module")
def peace(tmp_path_factory: pytest.TempPathFactory) -> Peace:
    return crawl_in_peace({}, tmp_path_factory.mktemp("peace"), pages=PAGES)


@pytest.fixture(params=["folder", "s3"])
def environment(request: pytest.FixtureRequest) -> Mapping[str, str]:
    """Give the environment of an S3 server, or an empty one for a folder."""
    if request.param == "folder":
        return {}
    request.getfixturevalue("s3_server")
    return {name: value for name, value in os.environ.items() if name.startswith("AWS_")}


def test_crawls_killed_at_random_moments_end_as_if_nothing_had_happened(
    peace: Peace, environment: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    tally = killed_crawls(environment, tmp_path_factory.mktemp("k"), peace, pages=PAGES, kills=KILLS, seed=7)
    assert tally.violations == []
    assert len(tally.kills) == KILLS


DAGSTER = ("dagster", "asset", "materialize", "-m", "pipelines.definitions", "--select", "*", "--partition")


@pytest.mark.parametrize(
    ("after_requests", "number", "whole_group", "command", "code"),
    [
        # Between two layers: Dagster is busy with their events, and the walk hears of it by the end of the run only.
        pytest.param(9, signal.SIGINT, True, (), 130, id="Ctrl-C"),
        pytest.param(20, signal.SIGTERM, False, DAGSTER, 1, id="a Dagster run is terminated"),
    ],
)
def test_an_interrupted_crawl_keeps_what_it_fetched_and_frees_its_site(
    peace: Peace,
    tmp_path_factory: pytest.TempPathFactory,
    after_requests: int,
    number: signal.Signals,
    whole_group: bool,
    command: tuple[str, ...],
    code: int,
) -> None:
    folder = tmp_path_factory.mktemp("i")
    with LoopbackSite(killing_site(PAGES)) as site:
        ground = Ground(site, store_view({}, folder / "store"), folder / "g")
        if command:
            with DagsterInstance.from_config(str(ground.home)) as instance:
                instance.add_dynamic_partitions("sites", [site.host])
            command = (str(Path(sys.executable).with_name(command[0])), *command[1:], site.host)
        assert ground.interrupt(after_requests, number, command, whole_group=whole_group) == code, ground.log
        # At most the request that was open when the signal came is lost.
        assert len(set(site.paths_seen()) - ground.kept - NOT_PAGES) <= 1
        assert ground.live()
        assert violations(ground, peace.ends) == []
