"""Sections: pages under one path prefix, which change alike. From addresses alone."""

import heapq
from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

MAX_SECTIONS: Final = 1_000  # of a site


def directory(url: str) -> str:
    """Give an address without query and last segment: the section it belongs to by itself.

    >>> directory("https://e.test/docs/guide/start.html?page=2"), directory("https://e.test")
    ('https://e.test/docs/guide/', 'https://e.test/')
    """
    scheme, mark, rest = url.partition("#")[0].partition("?")[0].partition("://")
    if not mark:
        return ""
    host, _, path = rest.partition("/")
    return f"{scheme}://{host}/{path[: path.rfind('/') + 1]}"


def parent(section: str) -> str:
    """Give the section above; the root of a host is in the section of all hosts, which is empty.

    >>> parent("https://e.test/docs/"), parent("https://e.test/"), parent("")
    ('https://e.test/', '', '')
    """
    above = section[: section.rfind("/", 0, -1) + 1]
    return "" if above.endswith("://") else above


def sections_of(urls: Sequence[str], most: int = MAX_SECTIONS) -> tuple[list[str], NDArray[np.int32]]:
    """Give the sections of a site, sorted, and for each page the number of its own.

    A site with too many gives up those with the fewest pages, the deepest first: their pages join the section above.
    """
    own = [directory(url) for url in urls]
    pages = Counter(own)
    joined: dict[str, str] = {}
    if len(pages) > most:
        waiting = [_turn(section, count) for section, count in pages.items()]
        heapq.heapify(waiting)
        while len(pages) > most and waiting:
            count, _, section = heapq.heappop(waiting)
            # An entry from before others joined it is out of date.
            if pages.get(section) != count or not section:
                continue
            above = parent(section)
            joined[section] = above
            pages[above] += pages.pop(section)
            heapq.heappush(waiting, _turn(above, pages[above]))
    names = sorted(pages)
    number = {name: row for row, name in enumerate(names)}
    for section in {*own} - number.keys():
        above = section
        while above not in number:
            above = joined[above]
        joined[section] = above
    return names, np.array([number.get(section, number.get(joined.get(section, ""), 0)) for section in own], np.int32)


def _turn(section: str, pages: int) -> tuple[int, int, str]:
    return pages, -section.count("/"), section
