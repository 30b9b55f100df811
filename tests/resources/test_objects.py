"""Behaviour of the object stores: the same in a folder and in S3."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import boto3.session
import pytest
from botocore.stub import Stubber

from resources.errors import ObjectMissing, StoreUnusable
from resources.folder_objects import FolderObjects
from resources.ports.objects import ObjectStore, Swept
from resources.s3_objects import S3Objects


def test_what_is_put_is_read_back_whole_or_in_ranges(objects: ObjectStore) -> None:
    objects.put("raw/site=127.0.0.1:8080/ü.bin", b"0123456789")
    key = "raw/site=127.0.0.1:8080/ü.bin"
    assert objects.get(key) == b"0123456789"
    assert objects.get(key, offset=3) == b"3456789"
    assert objects.get(key, offset=3, length=4) == b"3456"
    assert objects.get(key, offset=8, length=100) == b"89"
    assert objects.get(key, offset=3, length=0) == b""
    assert objects.get(key, offset=10) == b""
    assert objects.get(key, offset=99, length=1) == b""
    objects.put(key, b"")
    assert objects.get(key) == b""


def test_a_missing_object_is_said_to_be_missing(objects: ObjectStore) -> None:
    objects.put("a/b", b"1")
    for key in ("a", "a/c", "a/b/c", "none/at/all"):
        with pytest.raises(ObjectMissing, match=key):
            objects.get(key)
        with pytest.raises(ObjectMissing):
            objects.get_tagged(key)
        with pytest.raises(ObjectMissing):
            objects.get(key, offset=1, length=0)
        assert objects.replace(key + "x", b"2", etag="no such etag") is None
        objects.delete(key)
    assert objects.get("a/b") == b"1"


def test_one_of_many_creators_wins(objects: ObjectStore) -> None:
    contents = [b"%d" % number * 1000 for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        etags = list(pool.map(lambda content: objects.create("leases/a.json", content), contents))
    winners = [content for content, etag in zip(contents, etags, strict=True) if etag is not None]
    assert [objects.get("leases/a.json")] == winners
    assert objects.get_tagged("leases/a.json")[1] in etags


def test_one_of_many_swappers_wins_and_the_etag_moves(objects: ObjectStore) -> None:
    first = objects.create("state", b"0")
    assert first is not None
    contents = [b"%d" % number for number in range(1, 9)]
    with ThreadPoolExecutor(8) as pool:
        etags = list(pool.map(lambda content: objects.replace("state", content, etag=first), contents))
    (winner,) = [(content, etag) for content, etag in zip(contents, etags, strict=True) if etag is not None]
    assert objects.get_tagged("state") == winner
    assert objects.replace("state", b"late", etag=first) is None
    assert objects.replace("state", b"in time", etag=winner[1] or "") is not None


def test_a_list_is_in_key_order_and_takes_any_prefix(objects: ObjectStore) -> None:
    keys = sorted(["a/b/1", "a/b/2", "a/b.x", "a/b0", "a/bc/1", "a-b", "b", "a/ü", "a/\U0001f600"])
    for key in reversed(keys):
        objects.put(key, key.encode())
    assert [info.key for info in objects.list("")] == keys
    for prefix in ("a", "a/", "a/b", "a/b/", "a/b/1", "a/b/11", "b/", "c", "../", "/", "a//b", "a/b./"):
        assert [info.key for info in objects.list(prefix)] == [key for key in keys if key.startswith(prefix)], prefix
    assert {info.size_bytes for info in objects.list("a/b/")} == {5}


def test_a_published_file_is_a_copy(objects: ObjectStore, tmp_path: Path) -> None:
    local = tmp_path / "batch.warc.gz"
    local.write_bytes(b"x" * 9_000_000)  # S3 takes it in two parts
    objects.put_file("raw/batch.warc.gz", local)
    local.write_bytes(b"changed")
    assert [info.size_bytes for info in objects.list("raw/")] == [9_000_000]
    objects.delete("raw/batch.warc.gz")
    assert list(objects.list("")) == []
    assert local.exists()


def test_a_usable_store_passes_its_check_and_stays_empty(objects: ObjectStore) -> None:
    objects.check()
    assert list(objects.list("")) == []


@pytest.mark.parametrize("key", ["", "/a", "a/", "a//b", "a/../b", "..", "./a", "a\0b"])
def test_keys_that_are_no_plain_paths_are_refused(objects: ObjectStore, key: str) -> None:
    with pytest.raises(ValueError, match="not an object key"):
        objects.put(key, b"")


def test_locations_are_for_people(tmp_path: Path, s3_server: str) -> None:
    assert FolderObjects(tmp_path).location("a/b") == str(tmp_path / "a" / "b")
    assert S3Objects("bucket", "/some/prefix/").location("a/b") == "s3://bucket/some/prefix/a/b"
    assert S3Objects("bucket", "").location("a/b") == "s3://bucket/a/b"


def test_temporary_files_and_locks_are_no_objects(tmp_path: Path) -> None:
    objects = FolderObjects(tmp_path)
    objects.put("a/b", b"1")
    (tmp_path / "a" / ".tmp-left-by-a-crash").write_bytes(b"half")
    assert [info.key for info in objects.list("")] == ["a/b"]
    assert sorted(path.name for path in tmp_path.iterdir()) == [".locks", "a"]
    for key in (".locks/00", "a/.tmp-left-by-a-crash"):
        with pytest.raises(ValueError, match="not an object key"):
            objects.get(key)


def leave_half_written(objects: ObjectStore, key: str, size_bytes: int) -> None:
    """Do what a process that is killed in the middle of a write leaves behind."""
    if isinstance(objects, FolderObjects):
        path = Path(objects.location(key)).parent / f".tmp-{size_bytes}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * size_bytes)
        return
    bucket, _, name = objects.location(key).removeprefix("s3://").partition("/")
    client = boto3.session.Session().client("s3")
    upload = client.create_multipart_upload(Bucket=bucket, Key=name)["UploadId"]
    client.upload_part(Bucket=bucket, Key=name, UploadId=upload, PartNumber=1, Body=b"x" * size_bytes)


def test_what_killed_writers_left_is_swept_under_the_prefix_only(objects: ObjectStore) -> None:
    objects.put("raw/site=a/1.warc.gz", b"whole")
    for key, size_bytes in (("raw/site=a/1.warc.gz", 5), ("raw/site=a/layer=0/2.warc.gz", 70), ("raw/site=ab/3", 900)):
        leave_half_written(objects, key, size_bytes)
    assert [objects.sweep(prefix) for prefix in ("raw/site=a/", "raw/site=a/", "none/", "../", "raw/site=ab/")] == [
        Swept(2, 75),
        Swept(),
        Swept(),
        Swept(),
        Swept(1, 900),
    ]
    assert [info.key for info in objects.list("")] == ["raw/site=a/1.warc.gz"]


def test_a_write_under_way_is_not_swept(tmp_path: Path) -> None:
    objects, pipe = FolderObjects(tmp_path / "store"), tmp_path / "pipe"
    os.mkfifo(pipe)
    content = b"x" * 3_000_000
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(objects.put_file, "a/b", pipe)
        with pipe.open("wb") as source:
            source.write(content)
            (temporary,) = (tmp_path / "store" / "a").glob(".tmp-*")
            assert objects.sweep("") == Swept()
            assert temporary.exists()
        writing.result()
    assert objects.get("a/b") == content


@pytest.mark.parametrize("code", ["AccessDenied", "NotImplemented"])
def test_a_bucket_whose_uploads_may_not_be_listed_is_not_swept(
    s3_server: str, caplog: pytest.LogCaptureFixture, code: str
) -> None:
    client = boto3.session.Session().client("s3")
    with Stubber(client) as stub:
        stub.add_client_error("list_multipart_uploads", code)
        assert S3Objects("bucket", "p", client=client).sweep("raw/") == Swept()
    assert f"Unfinished uploads under s3://bucket/p/raw/ stay ({code}): allow s3:List" in caplog.text


def test_a_folder_that_cannot_be_written_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    objects = FolderObjects(tmp_path / "file" / "store")
    with pytest.raises(StoreUnusable, match=r"^The folder '.*' cannot be written \(Not a directory\): .*_STORE"):
        objects.check()
    with pytest.raises(StoreUnusable, match="cannot be read"):
        list(objects.list(""))


@pytest.mark.slow
def test_a_bucket_that_cannot_be_used_says_what_to_do(s3_server: str) -> None:
    objects = S3Objects("no-such-bucket", "p")
    expected = r"^The bucket 'no-such-bucket' does not exist: create it or set ISOBATH_STORE to another one\.$"
    for attempt in (
        objects.check,
        lambda: objects.get("a"),
        lambda: list(objects.list("")),
        lambda: objects.delete("a"),
    ):
        with pytest.raises(StoreUnusable, match=expected):
            attempt()
    with pytest.raises(StoreUnusable, match="cannot be used"):
        S3Objects("not a bucket name!", "p").check()


@pytest.mark.slow
def test_an_s3_server_that_does_not_answer_says_what_to_do(s3_server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    with pytest.raises(StoreUnusable, match=r"cannot be reached .* check the network and AWS_ENDPOINT_URL"):
        S3Objects("bucket", "p").check()
    monkeypatch.setenv("AWS_ENDPOINT_URL", "nonsense")
    with pytest.raises(StoreUnusable, match="check AWS_ENDPOINT_URL"):
        S3Objects("bucket", "p")
