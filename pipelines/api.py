"""The Python interface for notebooks: what a store holds, as Arrow, Polars or DuckDB.

>>> from pipelines.api import open_store
>>> store = open_store("data")  # doctest: +SKIP
>>> store.pages(sites=["docs.example.org"]).polars()  # doctest: +SKIP
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa

from assets import names
from assets.feed.live_pages import LIVE_PAGES, live_pages
from assets.schemas import TABLES
from pipelines.deployments import Deployment, deploy, environment_settings
from resources.errors import BadSettings
from resources.ports import SearchFilter, SearchHit

if TYPE_CHECKING:
    import polars


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows in memory, in whatever form they are wanted."""

    arrow: pa.Table

    def __len__(self) -> int:
        return int(self.arrow.num_rows)

    def polars(self) -> "polars.DataFrame":
        """Give them as a Polars frame (``pip install polars``)."""
        import polars

        frame = polars.from_arrow(self.arrow)
        assert isinstance(frame, polars.DataFrame)
        return frame

    def duckdb(self) -> duckdb.DuckDBPyRelation:
        """Give them as a DuckDB relation, to be filtered, joined and ``.query("rows", "SELECT ...")``."""
        return duckdb.from_arrow(self.arrow)


@dataclass(frozen=True, slots=True)
class Store:
    """A store that is open for reading."""

    deployment: Deployment

    def sites(self) -> list[str]:
        """Give the sites that have pages."""
        return sorted(set(self.deployment.tables.read(names.T_PAGE_STATE, columns=["site"])["site"].to_pylist()))

    def pages(self, *, sites: Sequence[str] | None = None, with_duplicates: bool = False) -> Rows:
        """Give the live pages in their current version; without those that another page stands for, unless asked."""
        wanted = self.sites() if sites is None else sites
        found = [live_pages(site, self.deployment.tables, with_duplicates=with_duplicates) for site in wanted]
        return Rows(pa.concat_tables([LIVE_PAGES.empty_table(), *found]))

    def table(
        self,
        name: str,
        *,
        sites: Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        as_of: datetime | None = None,
    ) -> Rows:
        """Give the rows of a table of the store.

        Raises:
            BadSettings: there is no such table.
        """
        if name not in TABLES:
            raise BadSettings(f"no table {name!r}; there are: {', '.join(sorted(TABLES))}")
        return Rows(self.deployment.tables.read(name, sites=sites, columns=columns, as_of=as_of))

    def search(self, words: str, *, limit: int = 10, offset: int = 0, **only: Any) -> list[SearchHit]:
        """Search the embedded index; ``site``, ``language`` and ``after`` narrow it."""
        index = self.deployment.index
        return [] if index is None else index.search(words, limit=limit, offset=offset, only=SearchFilter(**only))


def open_store(store: str | None = None) -> Store:
    """Open a store: a folder or ``s3://bucket/prefix``; without one, what ``ISOBATH_STORE`` says, else ``data``.

    Raises:
        BadSettings: a variable is wrong.
    """
    return Store(deploy(environment_settings(store=store)))
