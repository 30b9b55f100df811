"""The file system by which Arrow reads: the connection that the options of delta-rs and the environment name."""

from typing import Any

import pyarrow.fs as pafs
import pytest

from resources.arrow_files import arrow_files

KEYS = {"access_key": "k", "secret_key": "s"}


@pytest.mark.parametrize(
    ("options", "environment", "expected"),
    [
        ({}, {"AWS_REGION": "eu-west-1"}, {"region": "eu-west-1"}),
        ({}, {"AWS_DEFAULT_REGION": "eu-west-2"}, {"region": "eu-west-2"}),
        ({"region": "eu-1"}, {"AWS_REGION": "eu-2"}, {"region": "eu-1"}),
        (
            {"AWS_ENDPOINT_URL": "http://127.0.0.1:9000/"},
            {"AWS_REGION": "r"},
            {"region": "r", "scheme": "http", "endpoint_override": "127.0.0.1:9000"},
        ),
        (
            {"aws_access_key_id": "k", "AWS_SECRET_ACCESS_KEY": "s", "token": "t"},
            {"AWS_REGION": "r", "AWS_ENDPOINT_URL": "https://s3.example.org"},
            {**KEYS, "session_token": "t", "region": "r", "scheme": "https", "endpoint_override": "s3.example.org"},
        ),
        ({}, {"AWS_REGION": "r", "AWS_SKIP_SIGNATURE": "true"}, {"region": "r", "anonymous": True}),
        (
            {"aws_virtual_hosted_style_request": "True"},
            {"AWS_REGION": "r"},
            {"region": "r", "force_virtual_addressing": True},
        ),
    ],
)
def test_options_and_environment_name_the_connection(
    options: dict[str, str], environment: dict[str, str], expected: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ENDPOINT_URL", "ENDPOINT_URL_S3", "REGION", "DEFAULT_REGION", "SKIP_SIGNATURE"):
        monkeypatch.delenv(f"AWS_{name}", raising=False)
    for name, value in {"AWS_ACCESS_KEY_ID": "e", "AWS_SECRET_ACCESS_KEY": "e", **environment}.items():
        monkeypatch.setenv(name, value)
    # Not one of Python's: its threads would want the interpreter after its end.
    assert arrow_files("s3://bucket/tables", options) == pafs.S3FileSystem(**expected)


def test_a_folder_is_read_as_it_is() -> None:
    assert arrow_files("/srv/crawls", {}) == pafs.LocalFileSystem()
