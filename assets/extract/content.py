"""The content of a page: which part of its outline is the main text, and what in it is furniture all the same."""

from typing import Final

from assets.extract.furniture import Place, Verdict, place_of, verdict_of
from assets.extract.outline import BOXES, HEADINGS, LISTS, RUN, Node

# A named part is believed when it holds so much text in sentences, and such a share of all of it.
_ENOUGH_CHARACTERS: Final = 250
_ENOUGH_SHARE: Final = 0.5
# A second part of the same name is taken for the first when it holds so many times as much.
_BETTER: Final = 1.5
# Text of its own that makes a block a sentence or more.
_SENTENCE_CHARACTERS: Final = 40
# Without a named part: the smallest box that holds such a share of the sentences.
_HELD_SHARE: Final = 0.8
# Where so much stands in paragraphs, short text outside of them is captions, credits and labels.
_PARAGRAPHS_CHARACTERS: Final = 750
_RUN_CHARACTERS_MIN: Final = 100
# "related-articles" may be furniture with a heading of that name, "buffer-related-functions" is not.
_ANCHOR_HYPHENS_MIN: Final = 2
_LINKED_SHARE: Final = 0.8
_LINKED_SHARE_LONG: Final = 0.5
_LINKED_PARAGRAPH_CHARACTERS: Final = 30
_TABLE_CHARACTERS_MIN: Final = 200
_LONG_TABLE_CHARACTERS: Final = 1_000
_ALWAYS_FURNITURE_NAMES: Final = (
    "aside footer nav menu button label legend fieldset figure figcaption optgroup option noindex time marquee"
)
_ALWAYS_FURNITURE: Final = frozenset(_ALWAYS_FURNITURE_NAMES.split())


def content_of(root: Node) -> Node:
    """Choose the part of a page that is its main text, and mark in it what is furniture as dropped."""
    nodes = _drop_furniture(root)
    _weigh(nodes)
    if root.dropped:
        # A page of links: what it says is what of it has no sign of furniture.
        root.dropped = False
        return root
    part = _part(root, nodes)
    _drop_runs(part)
    _drop_bare_headings(part)
    return part


def _weigh(nodes: list[Node]) -> None:
    """Sum up the text in sentences."""
    for node in reversed(nodes):
        if node.dropped:
            node.good = 0
            continue
        if node.has_blocks:
            node.good = sum(child.good for child in node.children())
        else:
            own = node.characters - node.link_characters
            node.good = own if own >= _SENTENCE_CHARACTERS and node.tag not in HEADINGS else 0


def _part(root: Node, nodes: list[Node]) -> Node:
    """Give the part whose name promises most and that holds enough, else the smallest box that holds nearly all."""
    least = max(_ENOUGH_CHARACTERS, _ENOUGH_SHARE * root.good)
    candidates: dict[Place, Node] = {}
    for node in nodes:
        if node.dropped:
            continue
        place = place_of(node.tag, node.name)
        if (
            place is not None
            and node.good >= least
            and (place not in candidates or node.good > 1.5 * candidates[place].good)
        ):
            candidates[place] = node
    if candidates:
        return candidates[min(candidates)]
    node = root
    while True:
        child = max(node.children(), key=lambda one: one.good, default=None)
        if child is None or child.good < _HELD_SHARE * root.good or child.tag not in BOXES:
            return node
        node = child


def _drop_furniture(root: Node) -> list[Node]:
    """Drop what is furniture by its element, its name or its links; give all nodes in document order."""
    nodes: list[Node] = []
    total = root.characters - root.link_characters
    stack = [root]
    while stack:
        node = stack.pop()
        nodes.append(node)
        own = node.characters - node.link_characters
        tag = node.tag
        if tag in _ALWAYS_FURNITURE:
            node.dropped = own <= total / 2 and not (tag == "figure" and any(one.tag == "table" for one in node.walk()))
        elif tag == "form":
            node.dropped = own <= total / 2
        elif node.name:
            verdict = verdict_of(tag, node.name)
            node.dropped = verdict is not Verdict.NOTHING and own <= total / 2 and not _is_named_by_heading(node)
        if not node.dropped:
            stack.extend(reversed([part for part in node.parts if not isinstance(part, str)]))
    for _ in range(2):
        for node in nodes:
            if node.links and not node.dropped:
                node.dropped = _links_only(node)
    return nodes


def _is_named_by_heading(node: Node) -> bool:
    """Say whether an element's id is its heading made an anchor: that names what it is about, not what it is for."""
    anchor = node.name.partition("\n")[0]
    if anchor.count("-") < _ANCHOR_HYPHENS_MIN:
        return False
    heading = next((one for one in node.children() if one.tag in HEADINGS), None)
    return heading is not None and _letters(heading.text()).startswith(_letters(anchor))


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))


def _links_only(node: Node) -> bool:
    tag = node.tag
    if tag == "table":
        return (
            node.characters >= 200 and node.link_characters > (0.8 if node.characters < 1000 else 0.5) * node.characters
        )
    if tag == "p":
        if _follows_heading(node):
            return False
        return (node.parent is None or node.parent.tag not in ("li", "td", "th")) and _is_link_farm(node)
    return (tag in LISTS or tag in BOXES) and _is_link_farm(node)


def _is_link_farm(node: Node) -> bool:
    """Say whether a block is links and hardly anything else. Source of the limits: trafilatura's link density tests."""
    size, linked, is_paragraph = node.characters, node.link_characters, node.tag == "p"
    if is_paragraph and linked >= _LINKED_PARAGRAPH_CHARACTERS and linked > size * _LINKED_SHARE:
        return True
    if node.links == 1 and linked > 100 and linked > size * 0.9:
        return True
    is_last = node.parent is None or not node.parent.parts or node.parent.parts[-1] is node
    limit = (60 if is_last else 30) if is_paragraph else (300 if is_last else 100)
    if size < limit:
        if linked > size * _LINKED_SHARE:
            return True
        # "See this and that." is a sentence; in a box or a list so short it is buttons.
        if not is_paragraph and node.links > 1 and node.short_links / node.links > _LINKED_SHARE:
            return True
        return node.tag in BOXES and size < 100 and len(node.parts) >= 3
    return node.links > 4 and linked > size * 0.9 and linked < 100 * node.links


def _follows_heading(node: Node) -> bool:
    """Say whether a node is what stands under a heading: "See also", "Source" and the like."""
    before: Node | None = None
    for sibling in node.parent.children() if node.parent is not None else ():
        if sibling is node:
            return before is not None and before.tag in HEADINGS
        before = sibling
    return False


def _drop_runs(part: Node) -> None:
    """Drop the short runs beside paragraphs."""
    paragraphs = 0
    runs = []
    for node in part.walk():
        if node.tag == "p":
            paragraphs += node.characters
        elif node is not part and (node.tag == RUN or (node.tag in BOXES and not node.has_blocks)):
            runs.append(node)
    if paragraphs >= _PARAGRAPHS_CHARACTERS:
        for node in runs:
            if node.characters - node.link_characters < _RUN_CHARACTERS_MIN:
                node.dropped = True


def _drop_bare_headings(part: Node) -> None:
    """Drop the headings under which nothing is left: those at the end, and those whose section was furniture."""
    bare: list[Node] = []
    lost = False
    stack: list[Node] = [part]
    while stack:
        node = stack.pop()
        if node.dropped:
            lost = lost or node.characters > 0
        elif node.tag in HEADINGS:
            if lost:
                while bare and bare[-1].tag >= node.tag:
                    bare.pop().dropped = True
            bare.append(node)
            lost = False
        elif node.has_blocks:
            stack.extend(reversed([one for one in node.parts if not isinstance(one, str)]))
        elif node.characters:
            bare, lost = [], False
    for node in bare:
        node.dropped = True
