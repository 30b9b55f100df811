"""A sample of all captures, read back: whether each record is whole, and says the digest that its row says."""

import heapq
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow.compute as pc

from assets import names
from assets.warc.member import DamagedMember, unpack_member
from resources.errors import ObjectMissing
from resources.ports import ObjectStore, TableStore

_COLUMNS: Final = ("warc_file", "warc_offset", "warc_bytes", "payload_digest")


@dataclass(frozen=True, slots=True)
class SampleVerdict:
    """What was read back, and what is wrong with it."""

    captures: int
    read_bytes: int
    faults: tuple[str, ...]  # a sentence each, with file and offset


def check_sample(tables: TableStore, objects: ObjectStore, *, captures: int, seed: int) -> SampleVerdict:
    """Read back captures, each of all sites as likely as any other; the same ones for the same seed and rows.

    Args:
        tables: of the store.
        objects: of the store.
        captures: how many, or all that there are.
        seed: of the choice.
    """
    read_bytes = 0
    faults: list[str] = []
    chosen = heapq.nsmallest(captures, _ranked(tables, captures, seed))
    for _, file, offset, length, digest in sorted(chosen, key=lambda one: one[1:3]):
        read_bytes += length
        fault = _fault(objects, file, offset, length, digest)
        if fault:
            faults.append(f"{file} at offset {offset}: {fault}")
    return SampleVerdict(len(chosen), read_bytes, tuple(faults))


def _ranked(tables: TableStore, captures: int, seed: int) -> Iterator[tuple[float, str, int, int, str]]:
    """Give the captures of each site that may be among those chosen, with the rank that chance gives them."""
    for site in sorted(pc.unique(tables.read(names.T_CRAWLS, columns=["site"])["site"]).to_pylist()):
        rows = tables.read(
            names.T_FETCHES, sites=[site], columns=list(_COLUMNS), where=pc.field("warc_file").is_valid()
        ).sort_by([("warc_file", "ascending"), ("warc_offset", "ascending")])
        ranks = np.random.default_rng([seed, zlib.crc32(site.encode())]).random(rows.num_rows)
        first = np.argsort(ranks, kind="stable")[:captures]
        for rank, row in zip(ranks[first].tolist(), rows.take(first).to_pylist(), strict=True):
            yield rank, *_place(row)


def _place(row: dict[str, Any]) -> tuple[str, int, int, str]:
    return row["warc_file"], row["warc_offset"], row["warc_bytes"], row["payload_digest"] or ""


def _fault(objects: ObjectStore, file: str, offset: int, length: int, digest: str) -> str:
    """Say what is wrong with a capture; empty when nothing is."""
    try:
        member = unpack_member(objects.get(file, offset=offset, length=length))
    except ObjectMissing:
        return "the file is missing"
    except DamagedMember as error:
        return str(error)
    recorded = member.fields.get("warc-payload-digest", "")
    if digest and recorded != digest:
        return f"the record's payload digest is {recorded or 'missing'}, its row says {digest}"
    return ""
