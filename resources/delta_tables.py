"""The table store: Delta Lake tables in a folder or an S3 bucket. No table's meaning is known here."""

import contextlib
import logging
import random
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Final, Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.fs as pafs
from deltalake import CommitProperties, DeltaTable, write_deltalake
from deltalake.exceptions import CommitFailedError, SchemaMismatchError, TableNotFoundError

from resources.arrow_files import arrow_files, arrow_path
from resources.errors import BadRows, StoreBusy, StoreUnusable, TransientError
from resources.group_commit import GroupCommit
from resources.kept_table import KeptTable
from resources.ports.tables import Compacted, Vacuumed
from resources.site_files import site_dataset
from resources.table_maintenance import compact_table, vacuum_table
from resources.table_rows import fitting_rows, read_rows

_log = logging.getLogger(__name__)

_SITE: Final = "site"
# Schema metadata of a table with a row or so a site: a file a site would make reading all of them slow.
_WHOLE: Final = (b"partitioned", b"no")
# delta-rs gives up after 15 lost races by default, which four writers reach on S3.
_COMMIT_RETRIES: Final = 100
_TRIES: Final = 8
_FIRST_WAIT_S: Final = 0.05
# Old versions stay readable by time until maintenance drops them, not until some checkpoint does.
_CONFIGURATION: Final = {"delta.enableExpiredLogCleanup": "false"}
# What delta-rs and Arrow say of an S3 server that is there, and not well.
_IS_UNWELL: Final = re.compile(
    r"\b(408|429|500|502|503|504) [A-Z]|SlowDown|operation timed out|AWS Error (SLOW_DOWN|SERVICE_UNAVAILABLE|"
    r"INTERNAL_FAILURE|THROTTLING|REQUEST_TIMEOUT)|HTTP status (408|429|500|502|503|504)\b"
)
# delta-rs takes folders for URLs: it panics at some characters, and decodes others into another folder.
_NOT_FOR_DELTA: Final = re.compile(r"[\[\]^|\\\x00-\x1f]|%[0-9A-Fa-f]{2}")


class DeltaTables:
    """Delta tables at ``<root>/<table>``, partitioned by ``site`` unless their schema's metadata says
    ``partitioned: no``. Safe for many threads and machines.

    ``root`` is a folder or ``s3://bucket/prefix``. For S3, keys and region come from the ``AWS_*`` environment or from
    ``storage_options``, which win. Servers other than AWS need ``AWS_ENDPOINT_URL``, ``AWS_ALLOW_HTTP`` ("true") when
    that is plain HTTP, and ``aws_conditional_put`` ("etag").

    ``as_of`` goes by the modification times of the commit files: milliseconds or better in a folder, seconds on S3.
    A copy of a store that does not keep them forgets its past.
    """

    def __init__(
        self, root: str, schemas: Mapping[str, pa.Schema], *, storage_options: Mapping[str, str] | None = None
    ) -> None:
        self._on_s3 = root.startswith("s3://")
        self._root = root.rstrip("/") if self._on_s3 else str(Path(root).absolute())
        if not self._on_s3 and _NOT_FOR_DELTA.search(self._root):
            raise StoreUnusable(
                f"The folder '{self._root}' has a name that Delta Lake cannot use ([ ] ^ | \\ or % with two digits): "
                "set ISOBATH_STORE to another one."
            )
        self._schemas = dict(schemas)
        self._storage_options = dict(storage_options or {})
        self._kept = {name: KeptTable(self._uri(name), storage_options=self._storage_options) for name in schemas}
        self._whole = {name for name, schema in schemas.items() if _WHOLE in (schema.metadata or {}).items()}
        # One lock a table: writers of one process would only make each other lose their races.
        self._locks = {name: threading.Lock() for name in schemas}
        self._appends = {name: GroupCommit(partial(self._append, name)) for name in schemas}

    def append(self, table: str, rows: pa.Table) -> None:
        """Add rows in one commit, shared with others that wait; no rows, no commit.

        Raises:
            BadRows: the rows do not fit the table's schema, or a required column holds nulls.
            StoreBusy: other writers won every race.
        """
        fitting = fitting_rows(table, self._schema(table), rows)
        if fitting.num_rows:
            self._appends[table].append(fitting)

    def replace(self, table: str, *, sites: Sequence[str], rows: pa.Table) -> None:
        """Put ``rows`` in the place of all rows of ``sites``, in one commit.

        Raises:
            BadRows: as for ``append``, or a row of a site that is not among ``sites``.
            StoreBusy: other writers won every race.
        """
        fitting = fitting_rows(table, self._schema(table), rows)
        strangers = set(pc.unique(fitting[_SITE]).to_pylist()) - set(sites)
        if strangers:
            raise BadRows(f"table '{table}': rows of {sorted(strangers)}, which are not among the replaced sites")
        if not sites:
            return
        quoted = ", ".join("'" + site.replace("'", "''") + "'" for site in sorted(set(sites)))
        predicate = f"{_SITE} IN ({quoted})"
        self._commit(table, lambda opened: _write(opened, fitting, predicate=predicate))

    def read(
        self,
        table: str,
        *,
        sites: Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        where: ds.Expression | None = None,
        as_of: datetime | None = None,
    ) -> pa.Table:
        """Read rows, in no promised order; see ``TableStore.read``.

        Raises:
            StoreUnusable: the store cannot be read, which is not the same as a table that was never written.
        """
        schema = self._schema(table)
        names = list(schema.names if columns is None else columns)
        unknown = set(names) - set(schema.names)
        if unknown:
            raise BadRows(f"table '{table}' has no column {sorted(unknown)}")
        wanted = pa.schema([schema.field(name) for name in names])
        if as_of is not None and as_of.tzinfo is None:
            raise ValueError(f"as_of must be an aware time, got {as_of}")
        with self._explained(table):
            with self._locks[table]:
                kept = self._kept[table]
                opened = kept.current() if as_of is None else kept.open_as_of(as_of)
                if opened is None or (sites is not None and not sites):
                    return wanted.empty_table()
                dataset = self._dataset(table, opened, sites)
            if sites is not None and table in self._whole:
                of_sites = pc.field(_SITE).isin(sorted(set(sites)))
                where = of_sites if where is None else of_sites & where
            return read_rows(dataset.to_table(columns=names, filter=where), wanted)

    def _dataset(self, table: str, opened: DeltaTable, sites: Sequence[str] | None) -> ds.Dataset:
        schema = self._schema(table).remove_metadata()
        if sites is not None and len(set(sites)) == 1 and table not in self._whole:
            paths = [arrow_path(uri) for uri in self._paths(table, opened, sites)]
            return site_dataset(paths, self._files, _SITE, sites[0], schema)
        return opened.to_pyarrow_dataset(
            file_pruning_predicate=self._pruned(table, sites),
            filesystem=pafs.SubTreeFileSystem(arrow_path(self._uri(table)), self._files),
            schema=schema,
        )

    @cached_property
    def _files(self) -> pafs.FileSystem:
        return arrow_files(self._root, self._storage_options)

    def files(self, table: str, *, sites: Sequence[str] | None = None) -> list[str]:
        """Give the Parquet files of the current version, as absolute paths or ``s3://`` URIs."""
        self._schema(table)
        with self._explained(table), self._locks[table]:
            opened = self._kept[table].current()
            if opened is None or (sites is not None and not sites):
                return []
            return self._paths(table, opened, sites)

    def _paths(self, table: str, opened: DeltaTable, sites: Sequence[str] | None) -> list[str]:
        return self._kept[table].paths(opened, _SITE, None if table in self._whole else sites)

    def compact(self, table: str) -> Compacted:
        """Make many small files of a site, or of a table that is not by site, into few large ones."""
        with self._explained(table):
            opened = self._opened_apart(table)
            return Compacted() if opened is None else compact_table(opened, None if table in self._whole else _SITE)

    def vacuum(self, table: str, *, keep_days: int, now: datetime) -> Vacuumed:
        """Remove what only versions need that were replaced more than ``keep_days`` ago; the others stay readable."""
        with self._explained(table):
            opened = self._opened_apart(table)
            if opened is None:
                return Vacuumed()
            return vacuum_table(opened, self._storage_options, keep_days=keep_days, now=now)

    def _opened_apart(self, table: str) -> DeltaTable | None:
        """Open a table for long work: readers and writers of this process need not wait for it."""
        self._schema(table)
        return self._kept[table].open()

    def location(self, table: str) -> str:
        """Say where a table lies."""
        self._schema(table)
        return self._uri(table)

    def _schema(self, table: str) -> pa.Schema:
        try:
            return self._schemas[table]
        except KeyError:
            raise BadRows(f"there is no table '{table}', only {sorted(self._schemas)}") from None

    def _uri(self, table: str) -> str:
        return f"{self._root}/{table}"

    def _pruned(self, table: str, sites: Sequence[str] | None) -> list[tuple[str, str, list[str]]] | None:
        """Give what leaves out the files of other sites; None when files are not by site."""
        return None if sites is None or table in self._whole else [(_SITE, "in", sorted(set(sites)))]

    def _create(self, table: str) -> DeltaTable:
        if not self._on_s3:
            Path(self._uri(table)).mkdir(parents=True, exist_ok=True)
        return DeltaTable.create(
            self._uri(table),
            schema=self._schema(table),
            partition_by=[] if table in self._whole else [_SITE],
            mode="ignore",
            configuration=_CONFIGURATION,
            storage_options=self._storage_options,
        )

    def _append(self, table: str, rows: pa.Table) -> None:
        self._commit(table, lambda opened: _write(opened, rows))

    def _commit(self, table: str, write: Callable[[DeltaTable], None]) -> None:
        """Write to the current version, again from the start when another commit got in between."""
        for attempt in range(_TRIES):
            try:
                with self._explained(table), self._locks[table]:
                    opened = self._kept[table].take() or self._create(table)
                    write(opened)
                    self._kept[table].put_back(opened)
                return
            except CommitFailedError as error:
                lost = error
            wait_s = _FIRST_WAIT_S * 2**attempt * random.uniform(0.5, 1.5)
            _log.info("A commit to table %s lost its race, trying again in %.2f s: %s", table, wait_s, lost)
            time.sleep(wait_s)
        raise StoreBusy(f"table '{table}': other writers won all of {_TRIES} races, the last with: {lost}") from lost

    @contextlib.contextmanager
    def _explained(self, table: str) -> Iterator[None]:
        """Turn what deltalake and the file system raise about the place into our errors; lost races pass."""
        try:
            yield
        except SchemaMismatchError as error:
            raise BadRows(f"table '{table}' was written with another schema: {_plain(error)}") from error
        except TableNotFoundError as error:
            raise StoreUnusable(self._advice(error)) from error
        except OSError as error:
            cause = str(error)
            if _IS_UNWELL.search(cause):
                raise TransientError(f"table '{table}' at {self._uri(table)}: {_plain(error)}") from error
            raise StoreUnusable(self._advice(error)) from error

    def _advice(self, error: Exception) -> str:
        if not self._on_s3:
            cause = getattr(error, "strerror", None) or _plain(error)
            return (
                f"The folder '{self._root}' cannot be used ({cause}): "
                "make room and give access there, or set ISOBATH_STORE to another one."
            )
        if "NoSuchBucket" in str(error):
            bucket = self._root.removeprefix("s3://").partition("/")[0]
            return f"The bucket '{bucket}' does not exist: create it or set ISOBATH_STORE to another one."
        return (
            f"The tables at {self._root} cannot be reached ({_plain(error)}): "
            "check the network and the AWS_* settings, or set ISOBATH_STORE to another one."
        )


def _write(opened: DeltaTable, rows: pa.Table, *, predicate: str | None = None) -> None:
    """Append rows, or put them in the place of those that fit a predicate."""
    stored = {field.name for field in opened.schema().fields}
    young = [name for name in rows.column_names if name not in stored]
    if young:
        # The table is older than these columns: it gets them, optional, since its rows have none.
        optional = [field.with_nullable(True) if field.name in young else field for field in rows.schema]
        rows = pa.table(rows.columns, schema=pa.schema(optional))
    else:
        # A description that was reworded is no other schema.
        rows = rows.cast(pa.schema([field.remove_metadata() for field in rows.schema]))
    schema_mode: Literal["merge"] | None = "merge" if young else None
    commit = CommitProperties(max_commit_retries=_COMMIT_RETRIES)
    if predicate is None:
        write_deltalake(opened, rows, mode="append", schema_mode=schema_mode, commit_properties=commit)
    else:
        write_deltalake(
            opened, rows, mode="overwrite", predicate=predicate, schema_mode=schema_mode, commit_properties=commit
        )


def _plain(error: Exception) -> str:
    """Fold the coloured tree that delta-rs prints into one line."""
    return " ".join(re.sub(r"\x1b\[\d+m|↳", " ", str(error)).split())[:600]
