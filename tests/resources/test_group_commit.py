"""Group commit: what waits travels together, nothing is lost, and each learns of its own failure."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa

from resources.group_commit import GroupCommit


class Commits:
    """A table whose first commit waits until all others are queued behind it."""

    def __init__(self, *, fails: bool = False) -> None:
        self.groups: list[list[int]] = []
        self.go_on = threading.Event()
        self.begun = threading.Event()
        self._fails = fails

    def __call__(self, rows: pa.Table) -> None:
        self.begun.set()
        assert self.go_on.wait(10)
        self.groups.append(sorted(rows["n"].to_pylist()))
        if self._fails and len(self.groups) == 2:
            raise OSError("no room")


def append_all(commits: Commits, numbers: range) -> list[BaseException | None]:
    group = GroupCommit(commits)

    def append(number: int) -> None:
        group.append(pa.table({"n": [number]}))

    with ThreadPoolExecutor(len(numbers)) as pool:
        first = pool.submit(append, numbers[0])
        assert commits.begun.wait(10)
        others = [pool.submit(append, number) for number in numbers[1:]]
        for _ in range(10_000):
            if len(group._waiting) == len(others):
                break
            threading.Event().wait(0.001)
        commits.go_on.set()
        return [future.exception(10) for future in (first, *others)]


def test_what_waits_for_a_commit_travels_in_the_next_one() -> None:
    commits = Commits()
    assert append_all(commits, range(9)) == [None] * 9
    assert commits.groups == [[0], list(range(1, 9))]


def test_a_failed_commit_fails_all_that_were_in_it_and_no_others() -> None:
    failures = append_all(Commits(fails=True), range(4))
    assert [type(failure) for failure in failures] == [type(None), OSError, OSError, OSError]
    assert len({id(failure) for failure in failures}) == 4


def test_an_append_alone_is_a_commit_of_its_own() -> None:
    commits = Commits()
    commits.go_on.set()
    group = GroupCommit(commits)
    group.append(pa.table({"n": [1]}))
    group.append(pa.table({"n": [2]}))
    assert commits.groups == [[1], [2]]
