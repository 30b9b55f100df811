"""Politeness in numbers: how a crawl asked, and what it was told to leave alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_MICROSECONDS: float = 1e6


@dataclass(frozen=True, slots=True)
class Fact:
    """A number with its name, as people read it."""

    name: str
    value: str
    is_bad: bool = False


def politeness_facts(fetches: pa.Table, nodes: pa.Table) -> Sequence[Fact]:
    """Say how many requests went to how many hosts, how far apart, and which answers asked for less.

    Gaps are from sending one request to sending the next one to the same host.
    """
    asked = fetches.filter(pc.field("status").is_valid())
    hosts = np.array([urlsplit(url).netloc for url in asked["url"].to_pylist()], dtype=object)
    times = asked["requested_at"].cast(pa.int64()).to_numpy() / _MICROSECONDS
    gaps = np.concatenate([np.diff(np.sort(times[hosts == host])) for host in set(hosts)] or [np.array([])])
    statuses = asked["status"].to_pylist()
    slow_down = statuses.count(429) + statuses.count(503)
    denied = nodes["outcome"].to_pylist().count("robots_denied")
    spent_s = float(times.max() - times.min()) if len(times) else 0.0
    return [
        Fact("requests for pages", f"{len(statuses):,}"),
        Fact("hosts", f"{len(set(hosts)):,}"),
        Fact("from first to last", _duration(spent_s)),
        Fact("median gap at a host", f"{np.median(gaps):.3f} s" if len(gaps) else "-"),
        Fact("shortest gap at a host", f"{gaps.min():.3f} s" if len(gaps) else "-"),
        Fact("answers 429 or 503", f"{slow_down:,}", is_bad=slow_down > 0),
        Fact("left alone by robots.txt", f"{denied:,}"),
    ]


def _duration(seconds: float) -> str:
    """Write a time as people say it.

    >>> _duration(75), _duration(7_380), _duration(2.5)
    ('1 min 15 s', '2 h 3 min', '2.5 s')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest_s = divmod(round(seconds), 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min {rest_s} s"
