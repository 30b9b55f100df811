"""The checks of an archive: what holds, what is named when it does not, and how much is read."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from assets import names
from assets.crawl.archive_checks import (
    DIGESTS_VERIFY,
    ERRORS_WITHIN_SHARE,
    NO_DANGLING_REVISITS,
    SAMPLE_BYTES,
    digests_check,
    errors_check,
    revisits_check,
    sample,
)
from assets.schemas import FETCHES
from assets.warc.digest import payload_digest
from assets.warc.member import pack_member
from assets.warc.writing import WarcBatch
from resources.ports import ObjectInfo
from tests.support.answers import NOON, answer
from tests.support.loopback import SMALL_SITE_DEPTHS, LoopbackSite, small_site
from tests.support.memory import MemoryObjects
from tests.support.rig import Rig
from tests.support.s3 import in_a_folder

KEY = "raw/site=e.test/crawl=1/layer=depth_0/a.warc.gz"
ARCHIVE_CHECKS = (DIGESTS_VERIFY, NO_DANGLING_REVISITS, ERRORS_WITHIN_SHARE)


class CountedObjects(MemoryObjects):
    """Objects that count what is read of them."""

    read_bytes = 0

    def get(self, key: str, *, offset: int = 0, length: int | None = None) -> bytes:
        """Read an object."""
        data = super().get(key, offset=offset, length=length)
        self.read_bytes += len(data)
        return data


@pytest.fixture
def objects() -> CountedObjects:
    return CountedObjects()


@pytest.fixture
def starts(objects: CountedObjects, tmp_path: Path) -> Iterator[list[tuple[str, int]]]:
    batch = WarcBatch(tmp_path / "a.warc.gz", KEY, opened_at=NOON, info={"software": "Isobath/test"})
    bodies = [bytes(range(256)) * (n + 1) for n in range(20)]
    places = [batch.add(answer(body=body), digest=payload_digest(body))[0] for body in bodies]
    batch.seal(FETCHES.empty_table(), sealed_at=NOON)
    objects.put_file(KEY, batch.path)
    yield [(place.file, place.offset) for place in places]
    batch.discard()


def stored(objects: MemoryObjects) -> list[ObjectInfo]:
    return list(objects.list("raw/"))


def test_a_whole_archive_verifies(objects: CountedObjects, starts: list[tuple[str, int]]) -> None:
    check = digests_check(objects, stored(objects), starts)
    assert check.passed
    size = len(objects.data[KEY])
    assert check.description == f"42 records in 1 files, 100% of {size} bytes: all hold"
    assert objects.read_bytes == size


def test_an_archive_without_files_verifies(objects: CountedObjects) -> None:
    assert digests_check(objects, [], []).passed


def test_a_flipped_byte_is_named_with_its_place(objects: CountedObjects, starts: list[tuple[str, int]]) -> None:
    data = bytearray(objects.data[KEY])
    data[starts[7][1] + 200] ^= 0xFF
    objects.data[KEY] = bytes(data)
    check = digests_check(objects, stored(objects), starts)
    assert not check.passed
    assert f"{KEY} at offset {starts[7][1]}" in check.description


def test_a_false_digest_is_named_with_its_place(objects: CountedObjects, starts: list[tuple[str, int]]) -> None:
    at = len(objects.data[KEY])
    member = pack_member({"WARC-Type": "metadata", "WARC-Block-Digest": payload_digest(b"other")}, b"block")
    # Of two digests in a header the later one is read: take our own true one away.
    plain = gzip.decompress(member)
    true = f"WARC-Block-Digest: {payload_digest(b'block')}\r\n".encode()
    objects.data[KEY] += gzip.compress(plain.replace(true, b""), mtime=0)
    check = digests_check(objects, stored(objects), starts)
    assert f"{KEY} at offset {at}: the block digest does not verify" in check.description


@pytest.mark.parametrize("cut", [1, 30, 3000])
def test_a_cut_file_does_not_verify(objects: CountedObjects, starts: list[tuple[str, int]], cut: int) -> None:
    objects.data[KEY] = objects.data[KEY][:-cut]
    check = digests_check(objects, stored(objects), starts)
    assert not check.passed
    assert "cut short" in check.description


def test_captures_whose_record_is_not_there_are_named(objects: CountedObjects, starts: list[tuple[str, int]]) -> None:
    objects.data[KEY] = objects.data[KEY][: starts[-1][1]]
    check = digests_check(objects, stored(objects), starts)
    assert f"{KEY}: no record begins at offset {starts[-1][1]}" in check.description
    check = digests_check(objects, [], starts)
    assert not check.passed
    assert f"{KEY} is missing" in check.description


def test_of_a_large_layer_a_sample_is_read_and_its_share_told(
    objects: CountedObjects, starts: list[tuple[str, int]]
) -> None:
    size = len(objects.data[KEY])
    check = digests_check(objects, stored(objects), starts, max_bytes=size // 4)
    assert check.passed
    assert check.description.startswith("a sample: ")
    assert 0 < check.metadata["read_share"] < 0.75
    assert f"% of {size} bytes" in check.description


def test_a_sample_is_spread_over_all_files_and_bounded() -> None:
    files = [ObjectInfo(f"raw/{n}.warc.gz", 100_000_000) for n in range(5)]
    starts = [(info.key, offset) for info in files for offset in range(500, 100_000_000, 1_000_000)]
    chosen = sample(files, starts, max_bytes=80_000_000)
    assert {stretch.key for stretch in chosen} == {info.key for info in files}
    assert sum(stretch.stop - stretch.start for stretch in chosen) <= 80_000_000
    assert all(stretch.stop - stretch.start >= SAMPLE_BYTES // 2 for stretch in chosen)
    assert chosen == sample(files, list(reversed(starts)), max_bytes=80_000_000)


def test_revisits_must_lead_to_responses() -> None:
    assert revisits_check([], set()).passed
    assert revisits_check([(KEY, 10), (KEY, 10)], {(KEY, 10), (KEY, 99)}).passed
    check = revisits_check([(KEY, 10), (KEY, 11)], {(KEY, 10)})
    assert not check.passed
    assert check.description == f"1 places hold no response of this site: {KEY} at offset 11"


def test_errors_may_be_as_many_as_the_site_says() -> None:
    outcomes = {"fetched": 5, "timeout": 3, "server_error": 2, "gone": 90}
    assert errors_check({}, max_share=0.0).passed
    assert errors_check(outcomes, max_share=0.03).passed
    check = errors_check(outcomes, max_share=0.02)
    assert not check.passed
    assert check.description == "of 100 pages: timeout 3 (3%); max_error_share is 2%"
    assert errors_check({"fetched": 1}, max_share=0.0).description == "of 1 pages: no errors; max_error_share is 0%"


@pytest.mark.slow
@in_a_folder
def test_a_crawl_reports_the_checks_of_each_depth_and_a_second_one_has_revisits(rig: Rig) -> None:
    with LoopbackSite(small_site()) as site:
        revisits = 0
        for _ in range(2):
            result = rig.crawl(site.host, seeds=[site.url("/")])
            checks = {(c.asset_key, c.check_name): c for c in result.get_asset_check_evaluations()}
            for depth in SMALL_SITE_DEPTHS:
                of_depth = [checks[names.depth(depth).raw_batches, name] for name in ARCHIVE_CHECKS]
                assert [check.description for check in of_depth if not check.passed] == []
                assert of_depth[0].metadata["read_share"].value == 1.0
                revisits += int(str(of_depth[1].metadata["revisits"].value))
        assert revisits > 0
