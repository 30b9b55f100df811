"""Weight files: what pages are worth to a user, a line each, such as an export of page views. Read once a version."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from resources.errors import BadSettings

Weights = tuple[tuple[str, float], ...]
_FORM: Final = "write a weight of more than 0, a blank, and a URL or an RE2 pattern"


class WeightFiles:
    """Reads weight files; one that has not changed is not read again.

    Args:
        check: gives a URL or pattern back, or raises a ``ValueError`` that says what is wrong with it.
    """

    def __init__(self, check: Callable[[str], str]) -> None:
        self._check = check
        self._lock = threading.Lock()
        self._read: dict[Path, tuple[tuple[int, int], Weights]] = {}

    def read(self, path: Path) -> Weights:
        """Give the URLs and patterns of a file with their weights, in its order.

        Raises:
            BadSettings: names the file, the line, and what it should be.
        """
        with self._lock:
            try:
                state = path.stat()
                version = (state.st_mtime_ns, state.st_size)
                if path not in self._read or self._read[path][0] != version:
                    self._read[path] = version, self._parsed(path)
            except (OSError, UnicodeDecodeError) as error:
                raise BadSettings(f"{path}: the weights cannot be read ({error}); make it a text file") from error
            return self._read[path][1]

    def _parsed(self, path: Path) -> Weights:
        weights = []
        for number, line in enumerate(path.read_text("utf-8-sig").splitlines(), start=1):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            weight, _, pattern = line.strip().partition(" ")
            try:
                value = float(weight)
                if not (0 < value < float("inf") and pattern.strip()):
                    raise ValueError("no weight, or nothing that it is the weight of")
                weights.append((self._check(pattern.strip()), value))
            except ValueError as error:
                raise BadSettings(f"{path}: line {number} is {line[:80]!r} ({error}); {_FORM}") from error
        return tuple(weights)
