"""The PostgreSQL index sink: a table of documents with full-text and trigram indexes.

A batch and its cursor are one transaction. The tables are made at the first batch; the trigram indexes, which find
parts of words and scripts without spaces, only where the extension ``pg_trgm`` may be used.
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from resources.batch_order import not_yet_applied
from resources.ports import FeedBatch, IndexDocument

if TYPE_CHECKING:
    import psycopg

_CONNECT_S: Final = 10
_STATEMENT_MS: Final = 60_000
# One lock for all processes that make the tables: CREATE ... IF NOT EXISTS alone can lose a race and fail.
_LOCK: Final = 0x150BA7
# A tsvector holds at most 1 MiB.
_SEARCHED_CHARACTERS: Final = 100_000

_TABLES: Final = """
CREATE TABLE IF NOT EXISTS isobath_cursors (site text PRIMARY KEY, sequence bigint NOT NULL);
CREATE TABLE IF NOT EXISTS isobath_documents (
    document_id text PRIMARY KEY, site text NOT NULL, url text NOT NULL, url_key text NOT NULL, title text NOT NULL,
    markdown text NOT NULL, text text NOT NULL, language text NOT NULL, published_on text NOT NULL,
    modified_on text NOT NULL, fetched_at timestamptz, text_digest text NOT NULL, headings text[] NOT NULL,
    section text NOT NULL, in_links bigint NOT NULL, anchor_texts text[] NOT NULL, extractor_version text NOT NULL,
    warc_file text NOT NULL, warc_offset bigint NOT NULL, warc_bytes bigint NOT NULL, search tsvector NOT NULL);
CREATE INDEX IF NOT EXISTS isobath_documents_search ON isobath_documents USING gin (search);
CREATE INDEX IF NOT EXISTS isobath_documents_site ON isobath_documents (site, language);
"""
_TRIGRAMS: Final = """
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE INDEX IF NOT EXISTS isobath_documents_title_parts ON isobath_documents USING gin (title gin_trgm_ops);
CREATE INDEX IF NOT EXISTS isobath_documents_text_parts ON isobath_documents USING gin (text gin_trgm_ops);
"""
_COLUMNS: Final = tuple(IndexDocument.__dataclass_fields__)
_UPSERT: Final = f"""
INSERT INTO isobath_documents ({", ".join(_COLUMNS)}, search) VALUES (
    {", ".join(f"%({name})s" for name in _COLUMNS)},
    setweight(to_tsvector('simple', %(title)s), 'A')
    || setweight(to_tsvector('simple', array_to_string(%(headings)s::text[], ' ')), 'B')
    || setweight(to_tsvector('simple', array_to_string(%(anchor_texts)s::text[], ' ')), 'C')
    || setweight(to_tsvector('simple', left(%(text)s, {_SEARCHED_CHARACTERS})), 'D'))
ON CONFLICT (document_id) DO UPDATE SET {", ".join(f"{name} = excluded.{name}" for name in (*_COLUMNS[1:], "search"))}
"""


class PostgresSink:
    """Documents in PostgreSQL, as the ``IndexSink`` port."""

    name = "postgres"

    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo

    def cursor(self, site: str) -> int:
        """Give the number of the last batch applied for a site; 0 when none was."""
        with self._connected() as connection:
            if connection.execute("SELECT to_regclass('isobath_cursors')").fetchone() == (None,):
                return 0
            row = connection.execute("SELECT sequence FROM isobath_cursors WHERE site = %s", [site]).fetchone()
            return int(row[0]) if row else 0

    def apply(self, batches: Sequence[FeedBatch]) -> None:
        """Apply batches of one site, in order; a batch at or below the cursor is passed over.

        Raises:
            PermanentError: a batch does not follow the one before it.
        """
        if not batches:
            return
        site = batches[0].site
        with self._connected() as connection:
            _make_tables(connection)
            with connection.transaction():
                connection.execute("INSERT INTO isobath_cursors VALUES (%s, 0) ON CONFLICT DO NOTHING", [site])
                # Another process that applies the same batch waits here, and then passes it over.
                row = connection.execute(
                    "SELECT sequence FROM isobath_cursors WHERE site = %s FOR UPDATE", [site]
                ).fetchone()
                for batch in not_yet_applied(batches, int(row[0]) if row else 0, self.name):
                    with connection.cursor() as cursor:
                        cursor.executemany(_UPSERT, [_values(document) for document in batch.upserts])
                    connection.execute(
                        "DELETE FROM isobath_documents WHERE document_id = ANY(%s)", [list(batch.tombstones)]
                    )
                    connection.execute(
                        "UPDATE isobath_cursors SET sequence = %s WHERE site = %s", [batch.sequence, site]
                    )

    def _connected(self) -> "psycopg.Connection[tuple[Any, ...]]":
        import psycopg

        return psycopg.connect(
            self._conninfo,
            autocommit=True,
            connect_timeout=_CONNECT_S,
            options=f"-c statement_timeout={_STATEMENT_MS} -c client_min_messages=warning",
        )


def _make_tables(connection: "psycopg.Connection[tuple[Any, ...]]") -> None:
    import psycopg

    if connection.execute("SELECT to_regclass('isobath_documents')").fetchone() != (None,):
        return
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        connection.execute(_TABLES)
        try:
            with connection.transaction():
                connection.execute(_TRIGRAMS)
        except (psycopg.errors.InsufficientPrivilege, psycopg.errors.FeatureNotSupported, psycopg.errors.UndefinedFile):
            return


def _values(document: IndexDocument) -> dict[str, Any]:
    values = {name: _storable(value) for name, value in asdict(document).items()}
    return values | {"fetched_at": document.fetched_at or None}


def _storable(value: Any) -> Any:
    """Take out NUL, which PostgreSQL cannot hold."""
    if isinstance(value, str):
        return value.replace("\0", "")
    return [_storable(one) for one in value] if isinstance(value, tuple) else value
