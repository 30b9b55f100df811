"""Conformance of the archive: odd and broken WARC and ARC files as warcio reads them, and pywb's own indexes."""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from warcio.archiveiterator import ArchiveIterator

from assets.warc.cdxj import cdxj_line
from assets.warc.inspect import Fault, Inspection, inspect_file
from assets.warc.surt import surt
from tests.conformance.score import Score

RECORDS_FLOOR: Final = 26  # of 26 files
REFUSALS_FLOOR: Final = 26  # of 26 files
FAULTS_FLOOR: Final = 26  # of 26 files
# The other three are answers to POST: pywb puts what was sent into the key. A crawl sends GET.
SURT_FLOOR: Final = 186  # of 189
LINES_FLOOR: Final = 183  # of 186: the same three

# What is wrong with the files, where warcio says nothing or less; all others must be without a problem.
FAULTS: Final[Mapping[str, frozenset[Fault]]] = {
    # A record of a wrong length, and then text where a record should begin: warcio refuses it too.
    "iipc-link-extraction-test.warc": frozenset({Fault.WRONG_LENGTH, Fault.NOT_A_RECORD}),
    # A crawler of 2014 took the chunking away and left the header: warcio takes the body as it is.
    "pywb-iana.warc.gz": frozenset({Fault.NO_CHUNKS}),
    # Lengths of -1 and "abc": warcio reads such records as empty.
    "warcio-bad.arc": frozenset({Fault.WRONG_LENGTH}),
    "warcio-example-bad-non-chunked.warc.gz": frozenset({Fault.MANY_RECORDS_A_MEMBER}),
    "warcio-example-bad.warc.gz.bad": frozenset({Fault.MANY_RECORDS_A_MEMBER}),
    "warcio-example-digest.warc": frozenset({Fault.BAD_DIGEST}),
    # Its last block is 12 bytes shorter than its header says: warcio gives what is there.
    "warcio-example-space-in-url.arc": frozenset({Fault.CUT_RECORD}),
    # Bytes are missing within a block, so that the next header does not begin where it should.
    "warcio-example-trunc.warc": frozenset({Fault.WRONG_LENGTH, Fault.BAD_DIGEST}),
    # The gzip member ends within the block; the next one begins with the rest of it.
    "warcio-example-wrong-chunks.warc.gz": frozenset({Fault.CUT_RECORD, Fault.NOT_A_RECORD}),
}
# pywb's indexes of files that are here.
INDEXED: Final = ("dupes", "iana", "post-test")


def warc_numbers(data: Path) -> list[Score]:
    """Count what passes of the facts in ``warc``."""
    expected = [json.loads(line) for line in (data / "expected.jsonl").read_text("utf-8").splitlines()]
    inspected = {case["file"]: inspect_archive(data / case["file"]) for case in expected}
    keys = [(key, fields["url"]) for path in sorted((data / "cdx").iterdir()) for key, _, fields in _index(path)]
    return [
        _score("archives: records", (_same_records(inspected[c["file"]], c) for c in expected), RECORDS_FLOOR),
        _score(
            "archives: refusals",
            (inspected[case["file"]].is_refused is (case["error"] is not None) for case in expected),
            REFUSALS_FLOOR,
        ),
        _score("archives: faults", (faults(i) == listed_faults(name) for name, i in inspected.items()), FAULTS_FLOOR),
        _score("archives: SURT keys of pywb", (surt(url) == key for key, url in keys), SURT_FLOOR),
        _score("archives: CDXJ lines of pywb", (same for name in INDEXED for same in _lines(data, name)), LINES_FLOOR),
    ]


def inspect_archive(path: Path) -> Inspection:
    """Inspect a file."""
    with path.open("rb") as stream:
        return inspect_file(stream)


def faults(inspection: Inspection) -> frozenset[Fault]:
    """Give what is wrong with a file."""
    return frozenset(problem.fault for problem in inspection.problems)


def listed_faults(file: str) -> frozenset[Fault]:
    """Give what must be found wrong with a file."""
    return FAULTS.get(Path(file).name, frozenset())


def _score(name: str, passed: Iterable[bool], floor: int) -> Score:
    verdicts = list(passed)
    return Score(name, sum(verdicts), len(verdicts), floor)


def _same_records(inspection: Inspection, case: Mapping[str, Any]) -> bool:
    names = ("offset", "type", "uri", "date", "status", "digest_ok")
    return [tuple(record[name] for name in names) for record in case["index"]] == [
        (r.offset, r.record_type, r.uri, r.date, r.status, r.digest_holds) for r in inspection.records
    ]


def _lines(data: Path, name: str) -> Iterator[bool]:
    """Say of each line of an index whether ours of the same record has all that it has."""
    (path,) = (data / "files").glob(f"*-{name}.warc.gz")
    ours = {line[2]["offset"]: line for row in _rows(path, f"{name}.warc.gz") for line in [_parsed(cdxj_line(row))]}
    for key, moment, fields in _index(data / "cdx" / f"pywb-{name}.cdxj"):
        found = ours.get(fields["offset"])
        # Of a revisit pywb leaves the status out; ours is there for those who filter by it.
        yield found is not None and found[:2] == (key, moment) and found[2].items() >= fields.items()


def _rows(path: Path, name: str) -> Iterator[dict[str, Any]]:
    with path.open("rb") as stream:
        archive = ArchiveIterator(stream)
        for record in archive:
            if record.rec_type in ("response", "revisit"):
                header, http = record.rec_headers.get_header, record.http_headers
                yield {
                    "url": header("WARC-Target-URI"),
                    "requested_at": datetime.fromisoformat(header("WARC-Date")),
                    "record_type": record.rec_type,
                    "content_type": http.get_header("Content-Type"),
                    "status": int(http.get_statuscode()),
                    "payload_digest": header("WARC-Payload-Digest"),
                    "warc_offset": archive.get_record_offset(),
                    "warc_bytes": archive.get_record_length(),
                    "warc_file": name,
                }


def _index(path: Path) -> list[tuple[str, str, dict[str, str]]]:
    return [_parsed(line) for line in path.read_text("utf-8").splitlines() if line and not line.startswith("!")]


def _parsed(line: str) -> tuple[str, str, dict[str, str]]:
    key, moment, fields = line.split(" ", 2)
    return key, moment, json.loads(fields)
