"""The Markdown of a part of a page: headings, lists, quotes, code as it stands, links; ``tables`` writes tables."""

import re
from collections.abc import Callable, Iterable
from typing import Final

from assets.extract.code import code_language, code_text
from assets.extract.outline import BLOCKS, HEADINGS, PERMALINK, Node
from assets.extract.tables import is_data_table, pipe_table

Parts = Iterable[Node | str]
Resolve = Callable[[str], str | None]

_MARKS: Final = {
    **dict.fromkeys(("b", "strong"), "**"),
    **dict.fromkeys(("em", "i", "cite", "dfn", "var"), "*"),
    **dict.fromkeys(("del", "s", "strike"), "~~"),
}
_CODE: Final = frozenset({"code", "kbd", "samp", "tt"})
# What would make a paragraph something else.
_START: Final = re.compile(r"(?m)^(#{1,6} |[-+*] |>|(?:```|~~~)|\d{1,9}(?=[.)] ))")
_RULE: Final = re.compile(r"(?m)^(?=[-=_*]{3,}$)")
_BREAK: Final = "\x1f"


def markdown_of(part: Node, resolve: Resolve) -> str:
    """Write a part of a page as Markdown.

    Args:
        resolve: makes a link absolute; None for one that leads nowhere.
    """
    return _Writer(resolve).blocks([part])


class _Writer:
    """The links' base, handed down."""

    def __init__(self, resolve: Resolve) -> None:
        self._resolve = resolve

    def blocks(self, parts: Parts, apart: str = "\n\n") -> str:
        """Write blocks and the runs of inline content between them."""
        done: list[str] = []
        run: list[Node | str] = []
        for part in parts:
            if isinstance(part, str) or not (part.has_blocks or part.tag in BLOCKS):
                run.append(part)
                continue
            self._end_run(run, done)
            run = []
            if not part.dropped:
                text = self._block(part)
                if text:
                    done.append(text)
        self._end_run(run, done)
        return apart.join(done)

    def _end_run(self, run: list[Node | str], done: list[str]) -> None:
        text = self.inline(run)
        if text:
            done.append(_RULE.sub(r"\\", _START.sub(_escaped, text)))

    def _block(self, node: Node) -> str:
        tag = node.tag
        if tag in HEADINGS:
            text = PERMALINK.sub("", self.inline(node.parts, links=False).replace("\n", " "))
            return f"{'#' * int(tag[1])} {text}" if text else ""
        if tag == "pre":
            return _fenced(code_text(node), code_language(node))
        if tag in ("ul", "ol", "menu", "dir"):
            return self._list(node)
        if tag == "dl":
            return self._definitions(node)
        if tag == "blockquote":
            text = self.blocks(node.parts)
            return "\n".join(f"> {line}".rstrip() for line in text.split("\n")) if text else ""
        if tag == "table" and is_data_table(node):
            return pipe_table(node, self._cell)
        if tag == "hr":
            return ""
        return self.blocks(node.parts)

    def _list(self, node: Node) -> str:
        start = node.attributes.get("start", "1")
        number = int(start) if start.isascii() and start.isdigit() and len(start) < 9 else 1
        items: list[str] = []
        for item in node.children():
            if item.dropped:
                continue
            marker = f"{number}. " if node.tag == "ol" else "- "
            # A list in a list without an item between is the nested list of the item before.
            if item.tag != "li":
                text = self._block(item) if item.tag in BLOCKS else self.inline([item])
                marker = "  " if items and item.tag in ("ul", "ol") else marker
            else:
                text = self._item(item)
            if text:
                items.append(marker + text.replace("\n", "\n" + " " * len(marker)))
                number += 1
        loose = any("\n\n" in item for item in items)
        return re.sub(r"(?m)[ ]+$", "", ("\n\n" if loose else "\n").join(items))

    def _item(self, item: Node) -> str:
        has_paragraphs = sum(child.tag == "p" for child in item.children()) > 1
        return self.blocks(item.parts, "\n\n" if has_paragraphs or _has_code(item) else "\n")

    def _definitions(self, node: Node) -> str:
        groups: list[str] = []
        for child in node.children():
            if child.dropped:
                continue
            if child.tag == "dt":
                text = self.inline(child.parts).replace("\n", " ") if not child.has_blocks else self.blocks(child.parts)
                if text:
                    groups.append(text)
            elif child.tag == "dd":
                text = self.blocks(child.parts)
                if text:
                    text = ": " + text.replace("\n", "\n  ")
                    groups.append(f"{groups.pop()}\n{text}" if groups else text)
            else:
                text = self._definitions(child) if child.has_blocks else self.blocks([child])
                if text:
                    groups.append(text)
        return re.sub(r"(?m)[ ]+$", "", "\n\n".join(groups))

    def _cell(self, cell: Node) -> str:
        text = self.blocks(cell.parts, "\n")
        return "<br>".join(line.strip() for line in text.split("\n") if line.strip()).replace("|", "\\|")

    def inline(self, parts: Parts, *, links: bool = True) -> str:
        """Write inline content, white space folded; a line break stays one."""
        pieces: list[str] = []
        self._inline(parts, pieces, links=links)
        text = "".join(pieces)
        if _BREAK not in text:
            return " ".join(text.split())
        lines = (" ".join(line.split()) for line in text.split(_BREAK))
        return "\n".join(line for line in lines if line)

    def _inline(self, parts: Parts, pieces: list[str], *, links: bool) -> None:
        for part in parts:
            if isinstance(part, str):
                pieces.append(part)
                continue
            if part.dropped:
                continue
            tag = part.tag
            if tag == "br":
                pieces.append(_BREAK)
            elif tag in _CODE:
                pieces.append(self._code(part, links=links))
            elif tag == "a" and links and (url := self._resolve(part.attributes.get("href", ""))):
                pieces.append(_wrapped(self._text(part, links=False), "[", f"]({_escaped_url(url)})"))
            elif (mark := _MARKS.get(tag)) is not None:
                pieces.append(_wrapped(self._text(part, links=links), mark, mark))
            elif tag == "q":
                pieces.append(_wrapped(self._text(part, links=links), '"', '"'))
            else:
                self._inline(part.parts, pieces, links=links)

    def _text(self, node: Node, *, links: bool) -> str:
        pieces: list[str] = []
        self._inline(node.parts, pieces, links=links)
        return "".join(pieces)

    def _code(self, node: Node, *, links: bool) -> str:
        text = " ".join(code_text(node).split())
        if not text:
            return " " if node.characters else ""
        ticks = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
        pad = " " if text[0] == "`" or text[-1] == "`" else ""
        written = f"{ticks}{pad}{text}{pad}{ticks}"
        # A link around all of the code goes outside of it.
        if links and node.links == 1 and node.link_characters >= node.characters:
            link = next((one for one in node.walk() if one.tag == "a"), None)
            url = self._resolve(link.attributes.get("href", "")) if link is not None else None
            return f"[{written}]({_escaped_url(url)})" if url else written
        return written


def _wrapped(text: str, before: str, after: str) -> str:
    """Put marks around a text, inside the white space around it."""
    core = text.strip()
    if not core or _BREAK in core:
        return text
    at = text.index(core)
    return f"{text[:at]}{before}{core}{after}{text[at + len(core) :]}"


def _fenced(code: str, language: str) -> str:
    if not code.strip():
        return ""
    fence = "`" * max(3, max((len(run) for run in re.findall("`+", code)), default=0) + 1)
    return f"{fence}{language}\n{code}\n{fence}"


def _has_code(item: Node) -> bool:
    return item.has_blocks and any(node.tag == "pre" for node in item.walk())


def _escaped(match: re.Match[str]) -> str:
    return f"{match[0]}\\" if match[0].isdigit() else f"\\{match[0]}"


def _escaped_url(url: str) -> str:
    return url.replace("(", "%28").replace(")", "%29").replace(" ", "%20")
