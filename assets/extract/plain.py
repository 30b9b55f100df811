"""The plain text of a part of a page: a line a block, without any marks."""

from assets.extract.code import code_text
from assets.extract.outline import BLOCKS, HEADINGS, PERMALINK, Node


def plain_text(part: Node) -> str:
    """Give the text of a part, a line a block; code keeps its lines, cells of a row share one."""
    pieces: list[str] = []
    _gather(part, pieces)
    lines = (" ".join(line.split()) for line in "".join(pieces).split("\n"))
    return "\n".join(line for line in lines if line)


def _gather(node: Node, pieces: list[str]) -> None:
    for part in node.parts:
        if isinstance(part, str):
            pieces.append(part.replace("\n", " ") if "\n" in part else part)
        elif part.dropped:
            continue
        elif part.tag == "br":
            pieces.append("\n")
        elif part.tag in ("td", "th"):
            pieces.append(" ")
            _gather(part, pieces)
        elif part.tag in HEADINGS:
            heading: list[str] = []
            _gather(part, heading)
            pieces += ["\n", PERMALINK.sub("", "".join(heading)), "\n"]
        elif part.tag == "pre":
            pieces += ["\n", code_text(part), "\n"]
        elif part.tag in BLOCKS:
            pieces.append("\n")
            _gather(part, pieces)
            pieces.append("\n")
        elif part.tag == "code" and part.name:
            pieces.append(code_text(part).replace("\n", " "))
        else:
            _gather(part, pieces)
