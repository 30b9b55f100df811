"""Importance: what a page is worth to the user, from links, the site's settings, and what the user says of pages."""

from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

import numpy as np
import re2

from assets.recrawl.columns import Rows, SmallFloats
from assets.url.key import KeyRules, url_key
from resources.ports import SiteSettings

HUB_WEIGHT: Final = 2.0  # a hub is due by its interval; its weight only counts in means


def weights_of(
    urls: Sequence[str], url_keys: Sequence[str], in_links: Rows, hub_keys: frozenset[str], settings: SiteSettings
) -> SmallFloats:
    """Give the weight of each page, on any scale.

    A page that a hundred others link is worth some eight times one that one links: links count by their logarithm. A
    section's setting multiplies that; what is said of a page itself replaces all.
    """
    weight = 1 + np.log2(1 + in_links.astype(float))
    sections = sorted(settings.section_weights, key=lambda section: -len(section[0]))
    # A path is parsed only where a setting asks for it: there may be a million of them.
    if sections:
        paths = [urlsplit(url).path or "/" for url in urls]
        weight *= [next((value for prefix, value in sections if path.startswith(prefix)), 1.0) for path in paths]
    weight *= [HUB_WEIGHT if key in hub_keys else 1.0 for key in url_keys]
    if settings.page_weights:
        _set_pages(weight, urls, url_keys, settings)
    return np.asarray(weight, np.float32)


def _set_pages(
    weight: np.typing.NDArray[np.float64], urls: Sequence[str], url_keys: Sequence[str], settings: SiteSettings
) -> None:
    rules = KeyRules.of(settings)
    exact: dict[str, tuple[int, float]] = {}
    patterns = []
    for turn, (text, value) in enumerate(settings.page_weights):
        if text.startswith(("http://", "https://")):
            exact.setdefault(url_key(text, rules), (turn, value))
        else:
            patterns.append((turn, re2.compile(text), value))
    for row, (url, key) in enumerate(zip(urls, url_keys, strict=True)):
        first = next(((turn, value) for turn, pattern, value in patterns if pattern.search(url)), None)
        found = min((one for one in (exact.get(key), first) if one is not None), default=None)
        if found is not None:
            weight[row] = found[1]
