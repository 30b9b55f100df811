"""Chunks of documents: nothing lost, nothing twice, none too long, and ids that stay."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assets.feed.chunking import Chunk, ChunkSize, Unit, chunks_of
from resources.ports import IndexDocument

LINES = st.sampled_from(
    [
        "# One",
        "## Two",
        "### Three",
        "",
        "",
        "Some words. And more of them!",
        "```",
        "  code = 1",
        "潮汐表。深度很大。",
        "x" * 70,
        "- item",
    ]
)
MARKDOWN = st.lists(LINES | st.text(max_size=30), max_size=30).map("\n".join)
SIZES = st.builds(ChunkSize, st.integers(16, 200), st.sampled_from(Unit))


def document(markdown: str) -> IndexDocument:
    facts: dict[str, Any] = dict.fromkeys(("text", "published_on", "fetched_at", "text_digest", "warc_file"), "")
    return IndexDocument(
        "id", "a", "https://a/1", "https://a/1", "Title", markdown, language="en", warc_offset=0, **facts
    )


def cut(markdown: str, most: int = 40, unit: Unit = Unit.CHARACTERS) -> list[Chunk]:
    return chunks_of(document(markdown), ChunkSize(most, unit))


@given(markdown=MARKDOWN, size=SIZES)
def test_all_that_is_no_white_space_is_in_exactly_one_chunk_and_none_is_too_long(
    markdown: str, size: ChunkSize
) -> None:
    chunks = chunks_of(document(markdown), size)

    assert all(chunk.text == markdown[chunk.start : chunk.end] for chunk in chunks)
    assert all(0 < size.of(chunk.text) <= size.most for chunk in chunks)
    edges = [0, *(edge for chunk in chunks for edge in (chunk.start, chunk.end)), len(markdown)]
    assert edges == sorted(edges)
    assert not "".join(markdown[edges[at] : edges[at + 1]] for at in range(0, len(edges), 2)).strip()
    assert len({chunk.chunk_id for chunk in chunks}) == len(chunks)


@pytest.mark.parametrize(
    ("markdown", "pieces"),
    [
        ("", []),
        ("One paragraph.", [((), "One paragraph.")]),
        (
            "# A\nA long enough text here.\n\n## B\nAnd another text of it.\n\n# C\nThe last one of these.",
            [
                (("A",), "# A\nA long enough text here."),
                (("A", "B"), "## B\nAnd another text of it."),
                (("C",), "# C\nThe last one of these."),
            ],
        ),
        ("# A\n## B\nText.", [(("A",), "# A\n## B\nText.")]),
        ("# A\n```\n# no heading\n```", [(("A",), "# A\n```\n# no heading\n```")]),
        (
            "The first sentence is here. The second one too.",
            [((), "The first sentence is here."), ((), "The second one too.")],
        ),
        ("y" * 50, [((), "y" * 40), ((), "y" * 10)]),
    ],
)
def test_chunks_follow_headings_paragraphs_and_sentences(
    markdown: str, pieces: list[tuple[tuple[str, ...], str]]
) -> None:
    assert [(chunk.headings, chunk.text) for chunk in cut(markdown)] == pieces


def test_tokens_count_words_marks_and_characters_of_scripts_without_spaces() -> None:
    assert [chunk.text for chunk in cut("潮" * 20 + " one two", 16, Unit.TOKENS)] == ["潮" * 16, "潮" * 4 + " one two"]


def test_ids_stay_when_something_else_on_the_page_changes() -> None:
    old = cut("# A\nA long enough text here.\n\n# B\nAnd another text of it.")
    new = cut("# A\nA long enough text, changed.\n\n# B\nAnd another text of it.")

    assert old[0].chunk_id != new[0].chunk_id
    assert (old[1].chunk_id, old[1].start) != (new[1].chunk_id, new[1].start)
    assert old[1].chunk_id == new[1].chunk_id
