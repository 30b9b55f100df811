"""The floors of all conformance sets whose data is here."""

import pytest

from tests.conformance.sets import DATA, SETS


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_floors_hold(name: str) -> None:
    if not (DATA / name).is_dir():
        pytest.skip(f"{DATA.name}/{name} of the reference data is not beside this checkout")
    scores = SETS[name](DATA / name)
    assert scores
    assert [score for score in scores if not score.ok] == []
