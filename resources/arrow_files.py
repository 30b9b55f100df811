"""The file system by which Arrow reads what Delta Lake wrote: of a folder, or of S3."""

import os
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

import pyarrow.fs as pafs

_TRUE: Final = ("true", "1", "yes", "on")


def arrow_files(root: str, storage_options: Mapping[str, str]) -> pafs.FileSystem:
    """Give Arrow's own file system for paths as ``arrow_path`` gives them.

    It is not deltalake's, which is written in Python: Arrow's threads would call it, and a process that ends while one
    of them lets go of a file is aborted by C++. Credentials that the options do not give are looked for as all AWS
    programs do: environment, profile, role of the machine.

    Args:
        root: a folder, or ``s3://bucket/prefix``.
        storage_options: of delta-rs; those for the connection are understood, in any case of letters.
    """
    if not root.startswith("s3://"):
        return pafs.LocalFileSystem()
    # Keys are written in any case, and without their prefix too.
    options = {name.upper().removeprefix("AWS_"): value for name, value in storage_options.items()}

    def option(*names: str) -> str | None:
        given = [options.get(name) or os.environ.get(f"AWS_{name}") for name in names]
        return next((value for value in given if value), None)

    endpoint = urlsplit(option("ENDPOINT_URL_S3", "ENDPOINT_URL", "ENDPOINT") or "https:")
    return pafs.S3FileSystem(
        access_key=options.get("ACCESS_KEY_ID"),
        secret_key=options.get("SECRET_ACCESS_KEY"),
        session_token=options.get("SESSION_TOKEN") or options.get("TOKEN"),
        anonymous=(option("SKIP_SIGNATURE") or "").lower() in _TRUE,
        region=option("REGION", "DEFAULT_REGION"),
        scheme=endpoint.scheme,
        endpoint_override=endpoint.netloc + endpoint.path.rstrip("/") or None,
        force_virtual_addressing=(option("VIRTUAL_HOSTED_STYLE_REQUEST") or "").lower() in _TRUE,
    )


def arrow_path(uri: str) -> str:
    """Give the path that Arrow's file system has for a folder or an S3 address.

    >>> arrow_path("s3://crawls/eu/tables/pages")
    'crawls/eu/tables/pages'
    """
    return uri.removeprefix("s3://")
