"""Addresses beside the published cases: none fails, and each difference that we chose has its reason."""

from pathlib import Path

import pytest

from assets.url.key import url_key
from tests.conformance.url_differences import CRAWLER_COMMONS, DISPUTED
from tests.conformance.urls import DECIDED, PSL_SET, SAME_KEY, SAME_OR_LISTED, URL_SETS, AddressSet

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"
NEEDS_DATA = pytest.mark.skipif(not DATA.exists(), reason="shared/data is not beside this checkout")


@NEEDS_DATA
@pytest.mark.parametrize("cases", [case for case in URL_SETS if case is not SAME_KEY], ids=lambda case: case.name)
def test_no_case_of_the_url_sets_fails(cases: AddressSet) -> None:
    verdicts = cases.verdicts(DATA / "url")
    assert [case for case, passes in verdicts.items() if not passes] == []
    assert len(verdicts) == cases.floor


@NEEDS_DATA
def test_no_public_suffix_vector_fails() -> None:
    verdicts = PSL_SET.verdicts(DATA / "psl")
    assert [vector for vector, passes in verdicts.items() if not passes] == []
    assert len(verdicts) == PSL_SET.floor


@NEEDS_DATA
def test_each_listed_difference_is_a_case_and_each_decision_an_input() -> None:
    assert set(CRAWLER_COMMONS) <= set(SAME_OR_LISTED.verdicts(DATA / "url"))
    assert set(DISPUTED) == set(DECIDED.verdicts(DATA / "url"))


@pytest.mark.parametrize("url", DISPUTED, ids=repr)
def test_a_disputed_address_has_the_key_we_decided(url: str) -> None:
    assert url_key(url) == DISPUTED[url]
