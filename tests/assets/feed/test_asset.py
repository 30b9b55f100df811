"""The assets from texts to an index, in one Dagster run."""

from pathlib import Path

import dagster as dg
import pytest

from assets import names
from assets.dedup.asset import exact_duplicates, near_duplicates
from assets.feed.asset import index_feed
from resources.duckdb_engine import DuckDBEngine
from resources.site_catalog import YamlCatalog
from resources.tantivy_index import TantivyIndex
from tests.support.content import StoredPage, store
from tests.support.memory import MemoryObjects, MemoryTables


@pytest.mark.slow
def test_of_three_copies_one_is_found(tmp_path: Path) -> None:
    tables, index = MemoryTables(), TantivyIndex(tmp_path / "index")
    words = " ".join(f"word{number}" for number in range(100))
    texts = {"one": words, "copy": words, "edited": f"{words} more", "other": "isobath"}
    store(tables, [StoredPage("a", f"https://a/{name}", text) for name, text in texts.items()])
    parts = {
        "tables": tables,
        "objects": MemoryObjects(),
        "engine": DuckDBEngine(),
        "sinks": (index,),
        "catalog": YamlCatalog(None),
    }
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("sites", ["a"])

        assets = [exact_duplicates, near_duplicates, index_feed]
        result = dg.materialize(assets, partition_key="a", instance=instance, resources=parts)

    assert all(check.passed for check in result.get_asset_check_evaluations())
    assert {check.check_name for check in result.get_asset_check_evaluations()} == {
        "replay_gives_the_live_set",
        "sinks_are_up_to_date",
        "vanished_within_share",
    }
    assert [hit.url for hit in index.search("word7")] == ["https://a/one"]
    assert [hit.url for hit in index.search("isobath")] == ["https://a/other"]
    (materialized,) = result.asset_materializations_for_node("feed__index_feed")
    assert materialized.metadata["documents"].value == 2
    assert tables.read(names.T_NEAR_DUPLICATES).num_rows == 1
