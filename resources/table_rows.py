"""Rows on their way into a table: do they fit its schema. pyarrow itself lets nulls and other types pass."""

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from resources.errors import BadRows

_SITE: Final = "site"


def fitting_rows(table: str, schema: pa.Schema, rows: pa.Table) -> pa.Table:
    """Cast rows to a schema without loss, or say which column of which table does not fit.

    Raises:
        BadRows: a column is missing, unknown, of another kind, out of range, or null where it must not be.
    """
    if sorted(rows.column_names) != sorted(schema.names):
        missing = sorted(set(schema.names) - set(rows.column_names))
        unknown = sorted(set(rows.column_names) - set(schema.names))
        raise BadRows(f"table '{table}': columns missing: {missing}, unknown: {unknown}, or one given twice")
    columns = []
    for field in schema:
        column = rows[field.name]
        if not _same_kind(column.type, field.type):
            raise BadRows(f"table '{table}', column '{field.name}': {column.type} given, {field.type} wanted")
        if column.null_count and not field.nullable:
            raise BadRows(f"table '{table}', column '{field.name}': {column.null_count} nulls in a required column")
        try:
            columns.append(column.cast(field.type))
        except (pa.ArrowException, ValueError) as error:
            raise BadRows(f"table '{table}', column '{field.name}': {error}") from error
    if _SITE in schema.names and pc.any(pc.equal(columns[schema.names.index(_SITE)], "")).as_py():
        # A partition value that is empty comes back as null.
        raise BadRows(f"table '{table}', column '{_SITE}': an empty site")
    return pa.table(columns, schema=schema)


def read_rows(rows: pa.Table, wanted: pa.Schema) -> pa.Table:
    """Give rows the declared schema; a required column that is younger than a row is empty there: "", 0, false, []."""
    columns = [
        pc.coalesce(rows[field.name], _empty(field.type))
        if not field.nullable and rows[field.name].null_count
        else rows[field.name]
        for field in wanted
    ]
    return pa.table(columns, names=wanted.names).cast(wanted)


def _empty(kind: pa.DataType) -> pa.Scalar:
    if pa.types.is_list(kind):
        return pa.scalar([], kind)
    if pa.types.is_string(kind):
        return pa.scalar("", kind)
    if pa.types.is_timestamp(kind):
        return pa.scalar(0, pa.int64()).cast(kind)
    return pa.scalar(0).cast(kind)


def _same_kind(given: pa.DataType, wanted: pa.DataType) -> bool:
    """Say whether a cast keeps the meaning; whether it keeps every value is checked by the cast itself."""
    kinds = pa.types
    if given == wanted or kinds.is_null(given):
        return True
    if kinds.is_dictionary(given):
        return _same_kind(given.value_type, wanted)
    if kinds.is_string(wanted):
        return bool(kinds.is_large_string(given) or kinds.is_string_view(given))
    if kinds.is_integer(wanted):
        return bool(kinds.is_integer(given))
    if kinds.is_floating(wanted):
        return bool(kinds.is_integer(given) or kinds.is_floating(given))
    if kinds.is_timestamp(wanted):
        # A time without a zone may mean anything.
        return bool(kinds.is_timestamp(given) and given.tz is not None and wanted.tz is not None)
    if kinds.is_list(wanted):
        return bool(kinds.is_list(given) or kinds.is_large_list(given)) and _same_kind(
            given.value_type, wanted.value_type
        )
    if kinds.is_struct(wanted) and kinds.is_struct(given):
        types = {field.name: field.type for field in given}
        return types.keys() == {field.name for field in wanted} and all(
            _same_kind(types[field.name], field.type) for field in wanted
        )
    return False
