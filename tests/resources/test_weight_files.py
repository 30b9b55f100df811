"""Weight files: what they say, and one clear sentence for everything that is wrong in them."""

import os
from pathlib import Path

import pytest

from resources.errors import BadSettings
from resources.site_catalog import YamlCatalog


def catalog(folder: Path, settings: str = "") -> YamlCatalog:
    """Make a catalog whose site ``a`` has a weights file."""
    path = folder / "sites.yaml"
    path.write_text(f"sites: {{a: {{{settings}weights_file: views.txt}}}}")
    return YamlCatalog(path)


def test_weights_come_from_a_file_too_and_are_read_again_when_it_changes(tmp_path: Path) -> None:
    sites = catalog(tmp_path, "page_weights: {'/x/': 2}, ")
    views = tmp_path / "views.txt"
    views.write_text("# views\n\n10 https://a.example/news\n0.5  /old/\n")
    assert sites.settings("a").page_weights == (("/x/", 2.0), ("https://a.example/news", 10.0), ("/old/", 0.5))
    assert sites.settings("b").page_weights == ()
    views.write_text("3 /new/\n")
    os.utime(views, (1, 1))
    assert sites.settings("a").page_weights == (("/x/", 2.0), ("/new/", 3.0))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "the weights cannot be read"),
        (b"\xff", "the weights cannot be read"),
        (b"1 /a\nmany /b\n", "line 2 is 'many /b' (could not convert"),
        (b"0 /a\n", "line 1 is '0 /a' (no weight"),
        (b"2\n", "line 1 is '2' (no weight"),
        (b"2 (\n", "line 1 is '2 (' (not an RE2 pattern"),
        (b"2 http:///\n", "line 1 is '2 http:///' (not an absolute"),
    ],
    ids=["missing", "not text", "no number", "zero", "nothing", "bad pattern", "no host"],
)
def test_a_weights_file_that_cannot_be_used_is_said(tmp_path: Path, text: bytes | None, said: str) -> None:
    sites = catalog(tmp_path)
    if text is not None:
        (tmp_path / "views.txt").write_bytes(text)
    with pytest.raises(BadSettings) as caught:
        sites.settings("a")
    assert str(caught.value).startswith(f"{tmp_path / 'views.txt'}: {said}")
