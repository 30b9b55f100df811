from datetime import timedelta

import pytest

from assets import names
from assets.crawl import crawl_log
from assets.crawl.config import CrawlConfig, with_config
from assets.crawl.crawl_log import CrawlKind, CrawlState
from resources.errors import BadSettings
from resources.ports import SiteSettings, TableStore
from tests.support.answers import NOON

FRONTIER = names.depth(0).frontier.to_user_string()


def state(*stages: str, hours_ago: float = 2) -> CrawlState:
    return CrawlState(CrawlKind.CRAWL, "1", NOON - timedelta(hours=hours_ago), {stage: {} for stage in stages})


def carried_on(latest: CrawlState | None, *, new_crawl: bool = False) -> bool:
    return crawl_log.crawl_to_carry_on(latest, now=NOON, new_crawl=new_crawl) is not None


def test_an_interrupted_crawl_is_carried_on() -> None:
    assert carried_on(state("started", FRONTIER))


def test_a_finished_crawl_is_followed_by_a_new_one() -> None:
    assert not carried_on(state("started", FRONTIER, crawl_log.FINISHED[CrawlKind.CRAWL]))
    assert not carried_on(None)


def test_a_person_may_begin_anew() -> None:
    assert not carried_on(state("started", FRONTIER), new_crawl=True)


def test_a_seed_check_alone_is_carried_on_only_while_it_is_young() -> None:
    assert carried_on(state("started", crawl_log.SEED_CHECK, hours_ago=0.5))
    assert not carried_on(state("started", crawl_log.SEED_CHECK, hours_ago=2))


def test_the_newest_crawl_of_each_site_is_found(tables: TableStore) -> None:
    for site, crawl_id, stage, minute in [
        ("a", "1", "started", 0),
        ("a", "1", crawl_log.FINISHED[CrawlKind.CRAWL], 1),
        ("a", "2", "started", 2),
        ("b", "1", "started", 3),
    ]:
        crawl_log.mark(
            tables,
            site=site,
            crawl_id=crawl_id,
            stages=[stage],
            at=NOON + timedelta(minutes=minute),
            run_id="r",
            max_depth=3,
        )
    found = crawl_log.latest_crawls(tables)
    assert {site: (crawl.crawl_id, crawl.is_finished) for site, crawl in found.items()} == {
        "a": ("2", False),
        "b": ("1", False),
    }
    latest = crawl_log.latest_crawl(tables, "a")
    assert latest is not None
    assert latest.started_at == NOON + timedelta(minutes=2)
    assert crawl_log.latest_crawl(tables, "nowhere") is None


def test_run_config_wins_over_the_site() -> None:
    settings = SiteSettings("e.test", seeds=("http://e.test/a",), max_depth=2)
    merged = with_config(settings, CrawlConfig(max_pages=5, min_delay_s=60.0), depth_limit=3)
    assert (merged.max_depth, merged.max_pages, merged.min_delay_s, merged.max_delay_s) == (2, 5, 60.0, 60.0)
    assert merged.seeds == ("http://e.test/a",)


def test_a_site_deeper_than_the_graph_stops_at_its_end() -> None:
    assert with_config(SiteSettings("e.test", max_depth=9), CrawlConfig(), depth_limit=3).max_depth == 3


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (CrawlConfig(max_depth=5), "ISOBATH_MAX_DEPTH=5"),
        (CrawlConfig(max_depth=-1), "max_depth must be in 0..10"),
        (CrawlConfig(max_pages=0), "max_pages must be at least 1"),
        (CrawlConfig(min_delay_s=-1), "min_delay_s"),
        (CrawlConfig(seeds=["not an address"]), "not an absolute http(s) address"),
        (CrawlConfig(seeds=["ftp://e.test/"]), "not an absolute http(s) address"),
    ],
    ids=lambda value: "" if isinstance(value, CrawlConfig) else value,
)
def test_wrong_run_config_is_said_before_work_starts(config: CrawlConfig, said: str) -> None:
    with pytest.raises(BadSettings) as error:
        with_config(SiteSettings("e.test"), config, depth_limit=3)
    assert said in str(error.value)
