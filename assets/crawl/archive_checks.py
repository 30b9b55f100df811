"""Archive checks: whether the WARC objects of a layer are whole, its revisits lead somewhere, its errors stay few.

Pure but for the reading of objects; which rows belong to a layer is the caller's business.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import dagster as dg

from assets.derived import CheckResult
from assets.fetch.outcome import ERRORS
from assets.warc.member import DamagedMember, unpack_record
from assets.warc.spans import gzip_spans
from resources.errors import ObjectMissing
from resources.ports import ObjectInfo, ObjectStore

DIGESTS_VERIFY: Final = "digests_verify"
NO_DANGLING_REVISITS: Final = "no_dangling_revisits"
ERRORS_WITHIN_SHARE: Final = "errors_within_share"

MAX_READ_BYTES: Final = 200_000_000  # of a layer; of a larger one a sample is read
SAMPLE_BYTES: Final = 8_000_000  # a stretch of the sample
_READ_BYTES: Final = 4 * 1024 * 1024  # a request to the store
_RUN_OVER_BYTES: Final = 256 * 1024
_SHOWN: Final = 3  # faults that a description names

Start = tuple[str, int]  # object key and the offset of a record in it


@dataclass(frozen=True, slots=True)
class Stretch:
    """Part of a WARC object: the records that begin in it."""

    key: str
    start: int  # offset of a record
    stop: int
    size_bytes: int  # of the object


def digests_check(
    objects: ObjectStore, stored: Sequence[ObjectInfo], starts: Sequence[Start], *, max_bytes: int = MAX_READ_BYTES
) -> CheckResult:
    """Check that every record of a layer's WARC objects unpacks and that its block digest holds.

    Args:
        objects: where they lie.
        stored: the layer's WARC objects.
        starts: where the layer's captures say that their records begin.
        max_bytes: most to read; of a larger layer evenly spread stretches are read.
    """
    total_bytes = sum(info.size_bytes for info in stored)
    stretches = [Stretch(info.key, 0, info.size_bytes, info.size_bytes) for info in stored]
    if total_bytes > max_bytes:
        stretches = sample(stored, starts, max_bytes=max_bytes)
    sizes = {info.key: info.size_bytes for info in stored}
    faults = [f"{key} is missing" for key in sorted({key for key, _ in starts} - sizes.keys())]
    begins: dict[str, set[int]] = {}
    records = read_bytes = 0
    for stretch in stretches:
        found, taken, fault = _verify(objects, stretch)
        begins.setdefault(stretch.key, set()).update(found)
        records, read_bytes = records + len(found), read_bytes + taken
        faults += [fault] if fault else []
    if not faults and total_bytes <= max_bytes:
        lost = sorted((key, offset) for key, offset in starts if offset not in begins[key])
        faults += [f"{key}: no record begins at offset {offset}" for key, offset in lost]
    share = read_bytes / total_bytes if total_bytes else 1.0
    seen = f"{records} records in {len(stored)} files, {share:.0%} of {total_bytes} bytes"
    if total_bytes > max_bytes:
        seen = f"a sample: {seen}"
    return CheckResult(
        DIGESTS_VERIFY,
        passed=not faults,
        description=f"{len(faults)} faults ({seen}): {'; '.join(faults[:_SHOWN])}" if faults else f"{seen}: all hold",
        metadata={"records": records, "read_bytes": read_bytes, "read_share": round(share, 4), "faults": len(faults)},
        severity=dg.AssetCheckSeverity.ERROR,
    )


def sample(stored: Sequence[ObjectInfo], starts: Sequence[Start], *, max_bytes: int) -> list[Stretch]:
    """Choose stretches that are spread evenly over a layer, the same ones every time."""
    sizes = {info.key: info.size_bytes for info in stored}
    known = sorted({start for start in starts if start[0] in sizes} | {(key, 0) for key in sizes})
    count = min(len(known), max(1, max_bytes // SAMPLE_BYTES))
    length = max_bytes // count
    chosen: list[Stretch] = []
    for index in range(count):
        key, start = known[index * len(known) // count]
        if chosen and chosen[-1].key == key and chosen[-1].stop > start:
            # The stretch before reaches this one: join them, so that nothing is read twice.
            before = chosen.pop()
            start, stop = before.start, before.stop + length
        else:
            stop = start + length
        chosen.append(Stretch(key, start, min(stop, sizes[key]), sizes[key]))
    return chosen


def revisits_check(targets: Sequence[Start], responses: set[Start]) -> CheckResult:
    """Check that every revisit leads to a stored response.

    Args:
        targets: where the payloads of a layer's revisits lie.
        responses: where response records of the site begin, by its ``fetches``.
    """
    dangling = sorted({target for target in targets if target not in responses})
    shown = ", ".join(f"{key} at offset {offset}" for key, offset in dangling[:_SHOWN])
    return CheckResult(
        NO_DANGLING_REVISITS,
        passed=not dangling,
        description=f"{len(dangling)} places hold no response of this site: {shown}"
        if dangling
        else f"all {len(targets)} revisits lead to a stored response",
        metadata={"revisits": len(targets), "dangling": len(dangling)},
        severity=dg.AssetCheckSeverity.ERROR,
    )


def errors_check(outcomes: Mapping[str, int], *, max_share: float) -> CheckResult:
    """Check that no kind of error ends too many of a depth's pages.

    Args:
        outcomes: final outcome -> pages.
        max_share: of all pages that may end with one kind of error.
    """
    total = sum(outcomes.values())
    shares = {outcome: count / total for outcome, count in sorted(outcomes.items()) if count and outcome in ERRORS}
    over = {outcome: share for outcome, share in shares.items() if share > max_share}
    told = ", ".join(f"{outcome} {outcomes[outcome]} ({share:.0%})" for outcome, share in (over or shares).items())
    return CheckResult(
        ERRORS_WITHIN_SHARE,
        passed=not over,
        description=f"of {total} pages: {told or 'no errors'}; max_error_share is {max_share:.0%}",
        metadata={outcome: round(share, 4) for outcome, share in shares.items()},
    )


def _verify(objects: ObjectStore, stretch: Stretch) -> tuple[list[int], int, str]:
    """Give where whole records begin in a stretch, how many bytes they take, and the fault that ends it early."""
    found: list[int] = []
    taken = 0
    try:
        for span in gzip_spans(_pieces(objects, stretch), offset=stretch.start):
            if span.fault:
                return found, taken, f"{stretch.key} at offset {span.offset}: {span.fault}"
            unpack_record(span.data)
            found.append(span.offset)
            taken += span.length
            if span.offset + span.length >= stretch.stop:
                break
    except DamagedMember as error:
        return found, taken, f"{stretch.key} at offset {stretch.start + taken}: {error}"
    except ObjectMissing:
        return found, taken, f"{stretch.key} is missing"
    return found, taken, ""


def _pieces(objects: ObjectStore, stretch: Stretch) -> Iterator[bytes]:
    """Read to where the stretch stops, and on in small steps for the record that runs over it."""
    for start, stop, step in (
        (stretch.start, stretch.stop, _READ_BYTES),
        (stretch.stop, stretch.size_bytes, _RUN_OVER_BYTES),
    ):
        for offset in range(start, stop, step):
            yield objects.get(stretch.key, offset=offset, length=min(step, stop - offset))
