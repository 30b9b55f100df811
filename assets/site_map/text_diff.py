"""Text diffs: what changed in a text, for people."""

import difflib
from typing import Final

LINES_MAX: Final = 60
CHARACTERS_MAX: Final = 300  # of a line
_COMPARED_LINES_MAX: Final = 4_000  # the time grows with their square


def text_diff(before: str, after: str) -> str:
    """Give a unified diff of two texts by lines, with a line around each change; what is too long is cut and says so.

    >>> print(text_diff("one\\ntwo\\n", "one\\n2\\n"))
     one
    -two
    +2
    """
    old, new = before.splitlines(), after.splitlines()
    is_whole = max(len(old), len(new)) <= _COMPARED_LINES_MAX
    lines = difflib.unified_diff(old[:_COMPARED_LINES_MAX], new[:_COMPARED_LINES_MAX], n=1, lineterm="")
    # The first two lines name files, the @@ lines count.
    shown = [_cut(line) for number, line in enumerate(lines) if number > 1 and not line.startswith("@@")]
    if len(shown) > LINES_MAX:
        shown = [*shown[:LINES_MAX], f"... {len(shown) - LINES_MAX} more lines"]
    if not is_whole:
        shown.append(f"... only the first {_COMPARED_LINES_MAX} lines were compared")
    return "\n".join(shown)


def _cut(line: str) -> str:
    return line if len(line) <= CHARACTERS_MAX else line[:CHARACTERS_MAX] + "..."
