"""Qualities: how well something is done, as a share, and the arithmetic of such shares."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Quality:
    """One measured share, 0 to 1."""

    name: str
    share: float


def share(verdicts: Iterable[bool]) -> float:
    """Give the share of verdicts that are true."""
    found = list(verdicts)
    return sum(found) / len(found)


def f_measure(right: int, wrong: int, missed: int) -> float:
    """Give the harmonic mean of precision and recall.

    >>> f_measure(right=8, wrong=2, missed=2)
    0.8
    """
    return 2 * right / (2 * right + wrong + missed) if right else 0.0
