import logging
from pathlib import Path

import pytest

from assets import names
from pipelines.build import build, warn_of_seeds_outside_scope
from pipelines.deployments import deploy, settings_from
from resources.errors import BadSettings
from resources.ports import SiteSettings
from tests.support.rig import DictCatalog


def test_seeds_that_their_own_site_refuses_are_reported_at_load(caplog: pytest.LogCaptureFixture) -> None:
    sites = {
        "e.test": SiteSettings("e.test", seeds=("http://e.test/docs/", "http://e.test/blog/"), include=("/docs/",)),
        "f.test": SiteSettings("f.test", seeds=("http://f.test/",), hubs=("http://f.test/news",)),
    }
    with caplog.at_level(logging.WARNING, logger="isobath"):
        sentences = warn_of_seeds_outside_scope(DictCatalog(sites))
    assert len(sentences) == 1
    assert "e.test" in sentences[0]
    assert "http://e.test/blog/" in sentences[0]
    assert caplog.messages == sentences


def test_chunks_are_an_asset_of_graph_and_jobs_when_they_are_wanted(tmp_path: Path) -> None:
    there = {}
    for size in ("", "400 tokens"):
        environment = {"ISOBATH_STORE": str(tmp_path), "ISOBATH_SITES": str(tmp_path / "none"), "ISOBATH_CHUNKS": size}
        definitions = build(deploy(settings_from(environment)))
        jobs = [definitions.resolve_job_def(name) for name in ("crawl_site", "refresh_site", "reprocess")]
        keys = [
            definitions.resolve_asset_graph().get_all_asset_keys(),
            *(job.asset_layer.executable_asset_keys for job in jobs),
        ]
        there[size] = [names.CHUNKS in found for found in keys]
    assert there == {"": [False] * 4, "400 tokens": [True] * 4}


@pytest.mark.parametrize("size", ["400 words", "many", "3"])
def test_a_size_of_chunks_that_is_none_is_refused(size: str) -> None:
    with pytest.raises(BadSettings, match="ISOBATH_CHUNKS"):
        settings_from({"ISOBATH_CHUNKS": size})
