"""What people do in the Dagster UI, done through its own web server."""

import sys
from pathlib import Path

import pytest

from bench.kills.checks import violations
from bench.kills.lives import NOT_PAGES, Ground
from bench.kills.rounds import crawl_in_peace, store_view
from bench.kills.site import killing_site
from tests.support.loopback import LoopbackSite
from tests.support.ui import DagsterUi

pytestmark = pytest.mark.slow

PAGES = 30
RUN_S = 180.0
END_S = 60.0


def test_a_run_that_is_terminated_keeps_what_it_fetched_frees_its_site_and_ends(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    peace = crawl_in_peace({}, tmp_path_factory.mktemp("peace"), pages=PAGES)
    folder = tmp_path_factory.mktemp("t")
    dagster = str(Path(sys.executable).with_name("dagster"))
    with LoopbackSite(killing_site(PAGES)) as site:
        ground = Ground(site, store_view({}, folder / "store"), folder / "g")
        with DagsterUi(lambda command: ground.start([dagster, *command], lease_s=600)) as ui:
            ui.add_site(site.host)
            run = ui.launch("crawl_site", site.host)
            ui.await_that(lambda: len(site.requests) >= 12, RUN_S, "the crawl has begun")
            ui.terminate(run)
            ui.await_that(lambda: ui.status(run) == "CANCELED", RUN_S, "the run is canceled")
            ui.await_that(lambda: not ui.run_processes, END_S, "the processes of the run have ended")
            ground.look_back({})
            # At most the request that was open when the signal came is lost.
            assert len(set(site.paths_seen()) - ground.kept - NOT_PAGES) <= 1
            # Its lease, which would hold for ten minutes, was given back; the next run carries on.
            again = ui.launch("crawl_site", site.host)
            ui.await_that(lambda: ui.status(again) in ("SUCCESS", "FAILURE"), RUN_S, "the next run has ended")
            assert ui.status(again) == "SUCCESS", ground.log
            ui.await_that(lambda: not ui.run_processes, END_S, "the processes of the next run have ended")
        ground.look_back(ground.crawls())
        # The web server and its code server leave folders of their own; those of the walk have another name.
        of_dagster = "a temporary folder is left: tmp"
        assert [found for found in violations(ground, peace.ends) if not found.startswith(of_dagster)] == []
