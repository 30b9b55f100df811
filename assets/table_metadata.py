"""Table metadata: what Dagster shows of the tables that an asset writes, from their schemas."""

from collections.abc import Mapping
from typing import Any, Final

import dagster as dg
import pyarrow as pa

from assets.schemas import TABLES

COLUMN_SCHEMA: Final = "dagster/column_schema"
TABLE_NAME: Final = "dagster/table_name"


def table_metadata(*tables: str) -> Mapping[str, Any]:
    """Give the definition metadata of an asset that writes tables.

    Args:
        tables: names of tables; Dagster shows the columns of the first as those of the asset.
    """
    if not tables:
        return {}
    main, *beside = tables
    return {
        TABLE_NAME: main,
        COLUMN_SCHEMA: column_schema(TABLES[main]),
        **{columns_of(table): dg.MetadataValue.table_schema(column_schema(TABLES[table])) for table in beside},
    }


def tables_of(metadata: Mapping[str, Any]) -> list[str]:
    """Give the tables that the metadata of an asset names, its main one first."""
    beside = [table for table in TABLES if columns_of(table) in metadata]
    return [metadata[TABLE_NAME], *beside] if TABLE_NAME in metadata else beside


def columns_of(table: str) -> str:
    """Name the metadata that holds the columns of a table beside the first."""
    return f"columns of {table}"


def column_schema(schema: pa.Schema) -> dg.TableSchema:
    """Say a schema in Dagster's words.

    >>> from assets.schemas.columns import column
    >>> schema = column_schema(pa.schema([column("fetch_ms", pa.int64(), "how long it took", unit="ms")]))
    >>> schema.columns[0].type, schema.columns[0].description, schema.columns[0].constraints.nullable
    ('int64', 'how long it took (ms)', False)
    """
    return dg.TableSchema(
        [
            dg.TableColumn(
                field.name,
                type=str(field.type),
                description=meaning(field),
                constraints=dg.TableColumnConstraints(nullable=field.nullable),
            )
            for field in schema
        ]
    )


def meaning(field: pa.Field) -> str:
    """Say what a column means, and in which unit."""
    words: dict[str, str] = {key.decode(): value.decode() for key, value in field.metadata.items()}
    return words["description"] + (f" ({words['unit']})" if "unit" in words else "")
