import logging

import pytest

from pipelines.build import warn_of_seeds_outside_scope
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
