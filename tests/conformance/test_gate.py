"""The quality gate: that it holds, and that floors fall only when that is asked for."""

from pathlib import Path

import pytest

from tests.conformance.gate import QUALITY_SETS, main, read_floors
from tests.conformance.quality import Quality
from tests.conformance.sets import DATA


@pytest.mark.slow
@pytest.mark.parametrize("name", QUALITY_SETS)
def test_quality_holds(name: str) -> None:
    if not (DATA / name).is_dir():
        pytest.skip(f"{DATA.name}/{name} of the reference data is not beside this checkout")
    assert main([name]) == 0


def test_floors_rise_when_told_and_fall_only_by_name(tmp_path: Path) -> None:
    floors, corpus = tmp_path / "floors.json", tmp_path / "words" / "corpus"
    corpus.parent.mkdir()
    corpus.write_text("one")
    measured = {"share": 0.0}

    def gate(share: float, *arguments: str) -> tuple[int, float | None]:
        measured["share"] = share
        sets = {"words": lambda _: [Quality("words", measured["share"])]}
        code = main(arguments, data=tmp_path, floors_file=floors, sets=sets)
        pinned = read_floors(floors).get("words")
        return code, pinned.floors["words"] if pinned else None

    assert gate(0.8) == (1, None)
    assert gate(0.8, "--raise") == (0, 0.8)
    assert gate(0.7) == (1, 0.8)
    assert gate(0.7, "--raise") == (1, 0.8)
    assert gate(0.9, "--raise") == (0, 0.9)
    assert gate(0.7, "--lower", "words") == (0, 0.7)
    corpus.write_text("two")
    assert gate(0.9, "--raise") == (1, 0.7)
    assert gate(0.6, "--lower", "words") == (0, 0.6)


def test_a_set_that_is_not_here_is_skipped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["charset"], data=tmp_path) == 0
    assert "skipped" in capsys.readouterr().out
