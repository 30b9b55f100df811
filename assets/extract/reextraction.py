"""What a new extractor made of pages that a former one had read: counts, and the pages that changed most."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow.dataset as ds

from assets import names
from resources.ports import TableStore

EXAMPLES_MAX: Final = 10
FORMER_COLUMNS: Final = [
    *("url_key", "crawl_id", "payload_digest", "extractor_version", "title", "text_digest", "characters"),
]


@dataclass(slots=True)
class Reextraction:
    """The comparison of new rows with those that a former extractor made of the same bytes."""

    former: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # by url_key
    counts: Counter[str] = field(default_factory=Counter)
    examples: list[tuple[int, dict[str, Any]]] = field(default_factory=list)

    def compare(self, row: Mapping[str, Any]) -> None:
        """Take in a new row; one without a former is none of its business."""
        before = self.former.get(row["url_key"])
        if before is None or before["payload_digest"] != row["payload_digest"]:
            return
        changes = [name for name, column in _COMPARED.items() if before[column] != row[column]]
        self.counts.update(["pages", *changes])
        if before["characters"] and not row["characters"]:
            self.counts["emptied"] += 1
        if changes:
            self._remember(before, row)

    def metadata(self) -> dict[str, Any]:
        """Give what there is to report; empty when no page was read by a former extractor."""
        if not self.counts["pages"]:
            return {}
        from_versions = sorted({str(row["extractor_version"]) for row in self.former.values()})
        counts = {name: self.counts[name] for name in ("pages", *_COMPARED, "emptied")}
        examples = [example for _, example in self.examples]
        return {"changed_by_extractor": {"from_versions": from_versions, **counts, "examples": examples}}

    def _remember(self, before: Mapping[str, Any], row: Mapping[str, Any]) -> None:
        example = {
            "url": row["url"],
            "characters": [before["characters"], row["characters"]],
            "title": [before["title"], row["title"]],
        }
        self.examples.append((abs(row["characters"] - before["characters"]), example))
        self.examples.sort(key=lambda found: (-found[0], found[1]["url"]))
        del self.examples[EXAMPLES_MAX:]


# What is counted, and the column that tells.
_COMPARED: Final = {"other_text": "text_digest", "other_length": "characters", "other_title": "title"}


def read_former(tables: TableStore, site: str, states: Iterable[Mapping[str, Any]], version: str) -> Reextraction:
    """Read what former extractors made of the current versions of pages.

    Args:
        states: rows of ``page_state`` whose pages are extracted anew.
        version: of the extractor that does it; its own rows are no former ones.
    """
    wanted = {
        (row["url_key"], row["page_crawl_id"], row["extractor_version"])
        for row in states
        if row["page_crawl_id"] and row["extractor_version"] not in ("", version)
    }
    if not wanted:
        return Reextraction()
    where = ds.field("extractor_version").isin(sorted({found[2] for found in wanted}))
    rows = tables.read(names.T_PAGES, sites=[site], columns=FORMER_COLUMNS, where=where).to_pylist()
    return Reextraction(
        {row["url_key"]: row for row in rows if (row["url_key"], row["crawl_id"], row["extractor_version"]) in wanted}
    )
