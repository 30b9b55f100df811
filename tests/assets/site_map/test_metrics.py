"""Metrics in the text format of Prometheus."""

import re

from assets.site_map.metrics import read_metrics
from tests.support.hand_made_crawl import HOST, SITE, Crawl
from tests.support.memory import MemoryTables

LINE = re.compile(r"# (HELP|TYPE) \w+ .+|\w+\{\w+=\"[^\"]*\"(,\w+=\"[^\"]*\")*\} -?[\d.]+")


def test_each_site_has_its_last_crawl_in_numbers() -> None:
    crawl = Crawl()
    crawl.asked("/", "depth_0", "seed")
    crawl.asked("/gone", outcome="gone", status=404)
    crawl.page("/", "/gone", HOST)
    crawl.mapped()
    text = read_metrics(crawl.tables)
    assert [line for line in text.splitlines() if not LINE.fullmatch(line)] == []
    label = f'{{site="{SITE}"}}'
    for sample in (f"isobath_pages{label} 2", f"isobath_live_pages{label} 1", f"isobath_dead_pages{label} 1"):
        assert sample in text.splitlines()
    assert f'isobath_findings{{site="{SITE}",finding="dead_link"}} 1' in text.splitlines()
    assert read_metrics(crawl.tables, ["other.example"]).count("{") == 0


def test_a_store_without_crawls_has_no_samples() -> None:
    assert "{" not in read_metrics(MemoryTables())
