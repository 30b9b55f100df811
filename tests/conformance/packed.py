"""Packed test data: the files of a ``.tar.xz``."""

import lzma
import tarfile
from collections.abc import Iterator
from pathlib import Path


def tar_files(path: Path) -> Iterator[tuple[str, bytes]]:
    """Give the names and bytes of the files in a ``.tar.xz``."""
    with lzma.open(path) as packed, tarfile.open(fileobj=packed, mode="r|") as archive:
        for member in archive:
            content = archive.extractfile(member)
            if content is not None:
                yield member.name, content.read()
