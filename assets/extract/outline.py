"""The outline of a page: a light tree of its blocks and inline runs, with what each holds. Nothing is judged here.

One walk over the parsed page makes it; all that follows reads it, many times faster than the parser's own tree.
"""

import re
from collections.abc import Iterator
from typing import Final

from lxml import etree

# Never text that people read, in whatever part of a page.
_SKIPPED_NAMES: Final = (
    "script style noscript template svg iframe object embed applet audio video canvas map math link meta param "
    "source track select datalist textarea input progress meter dialog rp rt title base area frame noframes"
)
_SKIPPED: Final = frozenset(_SKIPPED_NAMES.split())
_BLOCKS_NAMES: Final = (
    "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure "
    "footer form frameset head h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol optgroup option p "
    "pre search section summary table tbody td tfoot th thead tr ul noindex"
)
BLOCKS: Final = frozenset(_BLOCKS_NAMES.split())
# Blocks that are boxes: text that lies in them beside other blocks is a run of its own.
_BOXES_NAMES: Final = (
    "address article aside body center details dialog dir div fieldset figure footer form head header hgroup html main "
    "nav search section noindex"
)
BOXES: Final = frozenset(_BOXES_NAMES.split())
HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
LISTS: Final = frozenset({"ul", "ol", "dl", "menu", "dir"})
RUN: Final = "#run"
# Marks that link a heading to itself: Sphinx and its kin put them into it.
PERMALINK: Final = re.compile(r"\s*[¶§#🔗]\s*$")
# Deeper elements give what they hold to the last one above; nothing that people read nests so deep.
_DEPTH_MAX: Final = 150
_HIDES: Final = re.compile(r"display\s*:\s*none", re.IGNORECASE)
_SKIPPED_TAG: Final = "#skipped"
_KEPT_ATTRIBUTES: Final = {
    "a": ("href",),
    "img": ("src", "alt", "width", "height"),
    "td": ("colspan", "rowspan"),
    "th": ("colspan", "rowspan"),
    "ol": ("start",),
}


class Node:
    """One element, or a run of inline content between the blocks of a box."""

    __slots__ = (
        "attributes",
        "characters",
        "dropped",
        "good",
        "has_blocks",
        "link_characters",
        "links",
        "name",
        "parent",
        "parts",
        "short_links",
        "tag",
    )

    def __init__(self, tag: str, parent: "Node | None") -> None:
        """Make an empty node."""
        self.tag = tag
        self.parent = parent
        self.name = ""  # id, class and role as they stand, when the element is one that names tell of
        self.attributes: dict[str, str] = {}
        self.parts: list[Node | str] = []
        self.characters = 0  # of its text, white space folded
        self.link_characters = 0
        self.links = 0
        self.short_links = 0  # links of fewer than ten characters
        self.has_blocks = False
        self.dropped = False
        self.good = 0

    def children(self) -> Iterator["Node"]:
        """Give its elements, without the text between them."""
        return (part for part in self.parts if not isinstance(part, str))

    def walk(self) -> Iterator["Node"]:
        """Give the node and all below it that are not dropped, in document order."""
        stack = [self]
        while stack:
            node = stack.pop()
            if not node.dropped:
                yield node
                stack.extend(reversed([part for part in node.parts if not isinstance(part, str)]))

    def text(self) -> str:
        """Give all text below it that is not dropped, white space folded."""
        pieces: list[str] = []
        stack: list[Node | str] = [self]
        while stack:
            part = stack.pop()
            if isinstance(part, str):
                pieces.append(part)
            elif not part.dropped:
                if part.tag in BLOCKS or part.tag == "br":
                    pieces.append(" ")
                    stack.append(" ")
                stack.extend(reversed(part.parts))
        return " ".join("".join(pieces).split())


def outline(tree: etree._Element) -> Node:
    """Make the outline of a page."""
    # Not of its body alone: where a page leaves out the tags of head and body, libxml2 puts <main> into <head>.
    root = Node("html", None)
    stack = [root]
    walker = etree.iterwalk(tree, events=("start", "end", "comment", "pi"))
    for event, element in walker:
        node = stack[-1]
        if event == "start":
            if element is tree:
                if element.text:
                    node.parts.append(element.text)
                continue
            tag = element.tag
            child = None if tag in _SKIPPED else _node(element, tag, node)
            if child is None:
                walker.skip_subtree()
                child = Node(_SKIPPED_TAG, node)
            elif element.text:
                child.parts.append(element.text)
            stack.append(child)
        elif event == "end":
            if element is tree:
                break
            stack.pop()
            parent = stack[-1]
            if node.tag != _SKIPPED_TAG:
                _finish(node)
                if len(stack) > _DEPTH_MAX:
                    parent.parts.extend(node.parts)
                    parent.has_blocks = parent.has_blocks or node.has_blocks
                else:
                    parent.parts.append(node)
                    if node.has_blocks or node.tag in BLOCKS:
                        parent.has_blocks = True
            if element.tail:
                parent.parts.append(element.tail)
        elif element.tail:
            node.parts.append(element.tail)
    _finish(root)
    return root


_INLINE_UNNAMED_NAMES: Final = (
    "a abbr b bdi bdo big br cite del dfn em font i img ins kbd mark q s samp small strike strong sub sup tt u var wbr "
    "tbody thead tfoot tr"
)
_INLINE_UNNAMED: Final = frozenset(_INLINE_UNNAMED_NAMES.split())


def _node(element: etree._Element, tag: str, parent: Node) -> Node | None:
    """Make the node of an element, without what it holds; None when the page hides it."""
    node = Node(tag, parent)
    kept = _KEPT_ATTRIBUTES.get(tag)
    is_named = tag not in _INLINE_UNNAMED
    if not is_named and kept is None:
        return node
    # All of them in one call: most elements have none, and each look-up of one costs as much.
    attributes = {str(name): str(value) for name, value in element.items()}
    if not attributes:
        return node
    if kept is not None:
        node.attributes = {name: attributes[name] for name in kept if name in attributes}
    if is_named:
        get = attributes.get
        style = get("style", "")
        if "hidden" in attributes or get("aria-hidden") == "true" or _HIDES.search(style):
            return None
        name = f"{get('id', '')}\n{get('class', '')}\n{get('role', '')}"
        itemprop = get("itemprop")
        node.name = f"{name}\n{itemprop}" if itemprop else name if len(name) > 2 else ""
    return node


def _finish(node: Node) -> None:
    """Put the inline content of a box into runs, and sum up what the node holds."""
    if node.has_blocks and node.tag in BOXES:
        _group(node)
    characters = links = link_characters = short_links = 0
    for part in node.parts:
        if isinstance(part, str):
            if not part.isspace():
                characters += len(" ".join(part.split()))
        else:
            characters += part.characters
            if part.links:
                links += part.links
                link_characters += part.link_characters
                short_links += part.short_links
    # A lone mark links a heading or a definition to itself, and leads nowhere else.
    if node.tag == "a" and characters > 1:
        links, link_characters, short_links = 1, characters, int(characters < 10)
    node.characters, node.links = characters, links
    node.link_characters, node.short_links = link_characters, short_links


def _group(box: Node) -> None:
    parts: list[Node | str] = []
    run: list[Node | str] = []
    for part in [*box.parts, None]:
        if part is not None and (isinstance(part, str) or not (part.has_blocks or part.tag in BLOCKS)):
            run.append(part)
            continue
        if any(not isinstance(one, str) or not one.isspace() for one in run):
            node = Node(RUN, box)
            node.parts = run
            for one in run:
                if not isinstance(one, str):
                    one.parent = node
            _finish(node)
            parts.append(node)
        run = []
        if part is not None:
            parts.append(part)
    box.parts = parts
