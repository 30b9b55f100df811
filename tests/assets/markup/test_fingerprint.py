"""Fingerprints: what changes them and what does not."""

import os
import subprocess
import sys
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assets.markup.fingerprint import (
    BANDS,
    bands,
    normalise,
    shingles,
    simhash,
    text_digest,
    token_count,
    token_hashes,
    tokens,
)
from assets.markup.volatile import without_volatile

TEXT = "The harbour office opens at dawn. Boats with a draught over two metres wait for the tide.\nUpdated by Ann."


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Page generated at 12:30:45", "Page generated at 23:59:01"),
        ("Current time: 9:05 pm", "Current time: 10:45 am"),
        ("Today is Monday, 3 March 2025", "Today is Tuesday, 4 March 2025"),
        ("Posted 5 minutes ago", "Posted 2 hours ago"),
        ("You are visitor number 1,234", "You are visitor number 1,235"),
        ("Visitors: 99", "Visitors: 100"),
        ("1 234 views", "1 240 views"),
        ("© 2001-2024 Acme", "© 2001-2025 Acme"),
        ("Copyright (c) 2024 Acme", "Copyright (c) 2025 Acme"),
        ("2024-05-01T12:34:56Z", "2024-05-02T01:02:03Z"),
        ("5分钟前", "3小时前"),
        ("浏览量:55", "浏览量:99"),
        ("vor 3 Minuten", "vor 4 Stunden"),
    ],
)
def test_what_is_different_at_every_visit_changes_no_digest(one: str, other: str) -> None:
    assert text_digest(f"{TEXT}\n{one}\n") == text_digest(f"{TEXT}\n{other}\n")
    assert np.array_equal(shingles(f"{TEXT}\n{one}\n"), shingles(f"{TEXT}\n{other}\n"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("two metres", "three metres"),
        ("opens at dawn", "Opens at dawn"),
        ("Ann", "On 3 March 2025"),
        ("over two", "over 3 hits in"),
        ("wait for the tide", "wait from 12:30 to 13:30"),
    ],
)
def test_an_edit_of_one_word_changes_the_digest(one: str, other: str) -> None:
    assert one in TEXT
    assert text_digest(TEXT) != text_digest(TEXT.replace(one, other))


@pytest.mark.parametrize(
    "text", ["On 3 March 2025 the war began.", "It took 3 hits in the hull.", "From 12:30 to 13:30.", "Today we sail."]
)
def test_dates_and_numbers_in_sentences_are_content(text: str) -> None:
    assert without_volatile(text) == text


def test_white_space_and_composition_do_not_count() -> None:
    assert normalise(" cafe\u0301\n\t x ") == "café x"
    assert text_digest("cafe\u0301  x") == text_digest("café\nx")


@pytest.mark.parametrize("text", ["", " \n", "12:30:45"])
def test_no_text_has_no_digest(text: str) -> None:
    assert text_digest(text) == ""


def test_scripts_without_spaces_are_cut_into_characters() -> None:
    assert tokens("図書館で会う") == list("図書館で会う")
    assert tokens("สวัสดี ok") == [*"สวัสดี", "ok"]
    assert len(shingles("明天下午三点在图书馆开会")) == 8
    one, other = shingles("明天下午三点在图书馆开会"), shingles("明天上午三点在图书馆开会")
    assert 0 < len(np.intersect1d(one, other)) < len(one)


@pytest.mark.parametrize(("text", "count"), [("", 0), ("!!! ???", 0), ("ok", 1), ("ok so", 1), ("a b c d e f", 2)])
def test_short_texts_have_few_features(text: str, count: int) -> None:
    assert len(shingles(text)) == count


def test_different_short_texts_differ() -> None:
    assert shingles("ok").tolist() != shingles("no").tolist()
    assert shingles("a b c").tolist() != shingles("c b a").tolist()


def test_every_process_gives_the_same() -> None:
    code = "from assets.markup.fingerprint import *; print(simhash(shingles('the tide turns at noon')))"
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert int(output.stdout) == simhash(shingles("the tide turns at noon"))


def test_a_small_edit_moves_few_bits_and_few_bands() -> None:
    words = [f"word{n * 7919 % 1000}" for n in range(500)]
    one = simhash(shingles(" ".join(words)))
    before = bands(shingles(" ".join(words)))
    words[250] = "edited"
    edited = shingles(" ".join(words))
    assert (one ^ simhash(edited)).bit_count() <= 8
    assert len(set(before) & set(bands(edited))) >= BANDS / 2


def test_texts_that_share_nothing_share_no_band() -> None:
    one, other = (bands(shingles(" ".join(f"{name}{n}" for n in range(300)))) for name in ("a", "b"))
    assert len(set(one) | set(other)) == 2 * BANDS


@given(st.text(max_size=200))
def test_fingerprints_of_any_text_fit_and_repeat(text: str) -> None:
    features = shingles(text)
    assert -(2**63) <= simhash(features) < 2**63
    assert np.array_equal(features, np.unique(features))
    assert len(bands(features)) == (BANDS if len(features) else 0)
    assert len(text_digest(text)) in (0, 64)


@given(
    st.one_of(
        st.text(),
        st.text(st.sampled_from("aZ0_ .,-é\xa0µßİΣςｱ図かัก가ᅡ\u0301’😀\ud800")),
        st.text(st.characters(max_codepoint=0xFF)),
    )
)
def test_tokens_are_counted_as_they_are_found(text: str) -> None:
    found = tokens(text)
    hashes = token_hashes(text).tolist()
    assert token_count(text) == len(hashes) == len(found)
    assert len(set(hashes)) == len(set(zip(hashes, found, strict=True))) == len(set(found))


def test_every_character_counts_as_it_is_found() -> None:
    # Chinese characters and Hangul syllables are many, and all alike.
    characters = [chr(code) for code in (*range(0x3500), *range(0x9F00, 0xAD00), *range(0xD700, 0x10000))]
    # Apart, beside others of their kind and in words, and taken apart by NFD.
    texts = [f"{character}.a{unicodedata.normalize('NFD', character)}b" for character in characters]
    assert [token_count(text) for text in texts] == [len(tokens(text)) for text in texts]
