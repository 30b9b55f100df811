"""The code of a page as it stands: without line numbers, buttons and hidden lines, with the language it is in."""

import re
from typing import Final

from assets.extract.outline import BLOCKS, Node

# What tools put into code that is not of it: line numbers, prompts for copying, lines that their readers do not see.
_NOT_CODE: Final = re.compile(
    r"(?:^|[\s_-])(?:boring|linenos?|line-?numbers?(?:-rows)?|lineno|gutter|hljs-ln-numbers|rouge-gutter|blob-num"
    r"|copy(?:-?btn|-?button|btn)?|buttons?|toolbar|clipboard)(?:$|\s)",
    re.IGNORECASE,
)
_LANGUAGE: Final = re.compile(r"(?:^|\s)(?:language|lang|highlight|highlight-source|brush:|sourceCode)[- ]?([\w+#.-]+)")
_NO_LANGUAGE: Final = frozenset({"default", "none", "text", "notranslate", "plaintext", "plain", "no-highlight"})
_TAGS_NOT_CODE: Final = frozenset({"button", "label", "select", "option"})


def code_text(node: Node) -> str:
    """Give the text of an element of code, white space as it stands."""
    pieces: list[str] = []
    _gather(node, pieces)
    text = "".join(pieces).replace("\r\n", "\n").replace("\xa0", " ")
    return "\n".join(line.rstrip() for line in text.strip("\n").split("\n")).rstrip()


def _gather(node: Node, pieces: list[str]) -> None:
    for part in node.parts:
        if isinstance(part, str):
            pieces.append(part)
        elif part.tag == "br":
            pieces.append("\n")
        elif part.tag in _TAGS_NOT_CODE or (part.name and _NOT_CODE.search(part.name)):
            continue
        else:
            is_line = part.tag in BLOCKS and part.tag not in ("pre", "table", "tbody", "td", "th")
            if is_line and pieces and not pieces[-1].endswith("\n"):
                pieces.append("\n")
            _gather(part, pieces)
            if is_line and pieces and not pieces[-1].endswith("\n"):
                pieces.append("\n")


def code_language(pre: Node) -> str:
    """Give the language that the classes of a ``pre``, of what is in it or around it name; empty when none does."""
    inside = [child for child in pre.children() if child.tag in ("code", "pre")]
    inside += [grandchild for child in inside for grandchild in child.children() if grandchild.tag == "code"]
    around = [node for node in (pre.parent, pre.parent.parent if pre.parent else None) if node is not None]
    for node in (pre, *inside, *around):
        classes = node.name.split("\n")[1] if "\n" in node.name else ""
        found = _LANGUAGE.search(classes)
        if found and found[1].lower() not in _NO_LANGUAGE:
            return found[1].lower()
    return ""
