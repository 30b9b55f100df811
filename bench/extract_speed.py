"""The speed of extraction beside trafilatura's, on one core, in one run: ours makes all columns of a page's row.

Run ``python -m bench.extract_speed FOLDER ...`` with folders of HTML files. It ends with 1 when ours is less than the
wanted times as fast on any of them. Each page is done by both, one after the other, so that a busy machine hits both.
"""

import argparse
import logging
import random
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from trafilatura import bare_extraction

from assets.extract.extractor import ExtractDocument, extract
from assets.markup.charset import decode_text

WANTED: Final = 2.5
_PAGES: Final = 200
_SEED: Final = 1


@dataclass(slots=True)
class Times:
    """What was measured in one folder."""

    pages: int = 0
    page_bytes: int = 0
    ours_s: float = 0.0
    theirs_s: float = 0.0
    ratios: list[float] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        """How many times as many pages ours does in the same time."""
        return self.theirs_s / self.ours_s


def main(arguments: Sequence[str]) -> int:
    """Measure, print a table, and say by the exit code whether ours is fast enough."""
    summary = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m bench.extract_speed", description=summary)
    parser.add_argument("folders", nargs="+", type=Path, help="folders of HTML files, read with their subfolders")
    parser.add_argument("--pages", type=int, default=_PAGES, help="pages of each folder, the same lot each time")
    asked = parser.parse_args(arguments)
    # trafilatura warns of every page that gives nothing.
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    print(f"{'folder':32}{'pages':>7}{'KB/page':>9}{'ms ours':>9}{'ms theirs':>11}{'ratio':>7}{'median':>8}")
    enough = True
    for folder in asked.folders:
        times = measured(folder, asked.pages)
        if not times.pages:
            parser.error(f"no HTML files in {folder}")
        per_page_ms = 1_000 / times.pages
        print(
            f"{folder.name[-30:]:32}{times.pages:7}{times.page_bytes / times.pages / 1024:9.1f}"
            f"{times.ours_s * per_page_ms:9.2f}{times.theirs_s * per_page_ms:11.2f}{times.ratio:7.2f}"
            f"{sorted(times.ratios)[times.pages // 2]:8.2f}"
        )
        enough = enough and times.ratio >= WANTED
    if not enough:
        print(f"less than {WANTED} times as fast as trafilatura")
    return 0 if enough else 1


def measured(folder: Path, pages: int) -> Times:
    """Time both on pages of a folder."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix in (".html", ".htm", ".xhtml"))
    chosen = random.Random(_SEED).sample(paths, min(pages, len(paths)))
    times = Times()
    for path in chosen:
        body = path.read_bytes()
        url = f"http://bench.test/{path.relative_to(folder).as_posix()}"
        text = decode_text(body, "text/html").text
        document = ExtractDocument(url, body, None, "text/html", None)
        ours_s = _seconds(partial(extract, document))
        # Its own decoding is not counted against it.
        theirs_s = _seconds(partial(bare_extraction, text, url=url, with_metadata=True))
        times.pages += 1
        times.page_bytes += len(body)
        times.ours_s += ours_s
        times.theirs_s += theirs_s
        times.ratios.append(theirs_s / ours_s)
    return times


def _seconds(task: Callable[[], object]) -> float:
    start_s = time.process_time()
    task()
    return time.process_time() - start_s


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
