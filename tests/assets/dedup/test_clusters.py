"""Clusters by representative."""

import pytest

from assets.dedup.clusters import AlikePair, representatives


def joined(*pairs: AlikePair) -> dict[int, int]:
    return {page: pair.better for page, pair in representatives(pairs).items()}


def test_a_chain_does_not_drift() -> None:
    chain = [AlikePair(page, page + 1, 2, 0.9) for page in range(5)]

    assert joined(*chain) == {1: 0, 3: 2, 5: 4}


def test_a_page_joins_the_representative_it_is_most_like() -> None:
    assert joined(AlikePair(0, 2, 5, 0.85), AlikePair(1, 2, 2, 0.95)) == {2: 1}
    assert joined(AlikePair(1, 2, 5, 0.9), AlikePair(0, 2, 2, 0.9)) == {2: 0}


def test_a_vetoed_pair_joins_nothing() -> None:
    assert joined(AlikePair(0, 1, 0, 1.0, "version")) == {}


def test_a_pair_names_the_better_page_first() -> None:
    with pytest.raises(ValueError, match="better page comes first"):
        AlikePair(1, 0, 0, 1.0)
