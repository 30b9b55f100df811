"""Scores: how many facts of a test set come out right, and how many must."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Score:
    """The result on one set of facts. Raising a floor is easy; lowering one needs a reason in the commit."""

    name: str
    passed: int
    total: int
    floor: int

    @property
    def ok(self) -> bool:
        """Whether the floor holds."""
        return self.passed >= self.floor
