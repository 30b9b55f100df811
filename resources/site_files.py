"""The files of one site of a table, as a dataset."""

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.fs as pafs


def site_dataset(paths: Sequence[str], files: pafs.FileSystem, column: str, site: str, schema: pa.Schema) -> ds.Dataset:
    """Make a dataset of files that all belong to one site.

    deltalake's own way states the statistics of every column of every file, which takes ten times as long as reading
    the few and small files of one site; and most reads are of one site.

    Args:
        paths: Parquet files; none of them holds the partition column.
        files: where the paths are.
        column: the partition column.
        site: its value in all of them.
        schema: of the table; a file that is older than a column has nulls there.
    """
    return ds.FileSystemDataset.from_paths(
        list(paths),
        schema=schema,
        format=ds.ParquetFileFormat(),
        filesystem=files,
        partitions=[pc.field(column) == site] * len(paths),
    )
