"""The asset graph as strangers see it: nothing about an asset is left to guess, and its columns are its table's."""

from typing import Any

import dagster as dg
import pytest

from assets import names
from assets.schemas import TABLES
from assets.table_metadata import COLUMN_SCHEMA, TABLE_NAME, columns_of, meaning, tables_of
from pipelines.build import build
from pipelines.deployments import deploy, settings_from
from resources.ports.catalog import CHECKS

DEFINITIONS = build(
    deploy(settings_from({"ISOBATH_STORE": "/nowhere", "ISOBATH_SITES": "/nowhere.yaml", "ISOBATH_CHUNKS": "2000"}))
)
SPECS = {spec.key: spec for spec in DEFINITIONS.resolve_all_asset_specs()}


def columns(schema: dg.TableSchema) -> list[tuple[Any, ...]]:
    return [(column.name, column.type, column.description, column.constraints.nullable) for column in schema.columns]


def schema_of(spec: dg.AssetSpec, table: str) -> dg.TableSchema:
    """Give the columns of a table as Dagster shows them."""
    main: bool = spec.metadata[TABLE_NAME] == table
    schema: dg.TableSchema = spec.metadata[COLUMN_SCHEMA] if main else spec.metadata[columns_of(table)].value
    return schema


@pytest.mark.parametrize("key", sorted(SPECS), ids=lambda key: key.to_user_string())
def test_an_asset_says_what_a_row_is_who_reads_it_and_whose_it_is(key: dg.AssetKey) -> None:
    spec = SPECS[key]
    description = spec.description or ""
    tables = tables_of(spec.metadata)
    assert not tables or f"`{tables[0]}`" in description
    assert "Read by" in description
    assert spec.owners == names.OWNERS
    assert spec.kinds
    assert spec.code_version
    assert spec.group_name not in (None, "default")
    assert spec.tags[names.SIDE_TAG] in ("crawl", "refresh", "derived")
    for table in tables:
        expected = [(field.name, str(field.type), meaning(field), field.nullable) for field in TABLES[table]]
        assert columns(schema_of(spec, table)) == expected


def test_every_table_is_some_assets() -> None:
    assert {table for spec in SPECS.values() for table in tables_of(spec.metadata)} == set(TABLES)


def test_a_site_can_set_the_severity_of_every_check() -> None:
    graph = DEFINITIONS.resolve_asset_graph()
    assert {key.name for key in graph.asset_check_keys} == set(CHECKS)


def test_every_check_job_schedule_and_sensor_says_what_it_is_for() -> None:
    graph = DEFINITIONS.resolve_asset_graph()
    repository = DEFINITIONS.get_repository_def()
    said = {str(key): graph.get_check_spec(key).description for key in graph.asset_check_keys}
    said |= {job.name: job.description for job in repository.get_all_jobs() if not job.name.startswith("__")}
    said |= {schedule.name: schedule.description for schedule in repository.schedule_defs}
    said |= {sensor.name: sensor.description for sensor in repository.sensor_defs}
    assert {"crawl_site", "plan_daily", "alert_of_failures"} <= said.keys()
    assert [key for key, description in said.items() if len(description or "") < 20] == []
