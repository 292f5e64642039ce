"""The place that a report names is held against statements, functions, and classes."""

from __future__ import annotations

from pathlib import Path

import pytest

import benchmarks.accuracy
from benchmarks.accuracy.sealed.__main__ import SEALED
from benchmarks.accuracy.sealed.answers import SHARES
from benchmarks.accuracy.styles import ProgramSet, files_of, lines_of
from benchmarks.accuracy.tune.__main__ import TUNE
from benchmarks.accuracy.tune.script_answers import SCRIPTS

TEXT = """\
for x in range(3):
    y = f(
        x)
class C:
    @wraps
    def g(self):
        return y
"""


def test_lines_of_a_statement_a_function_and_a_head() -> None:
    assert lines_of(TEXT, ("f(",)) == {2, 3}
    assert lines_of(TEXT, ("def g",)) == {5, 6, 7}
    assert lines_of(TEXT, ("for x",)) == {1}
    assert lines_of(TEXT, ("class C",)) == {4, 5, 6, 7}


@pytest.mark.parametrize("programs", [SEALED, TUNE], ids=lambda programs: programs.name)
def test_each_answer_names_lines_that_are_there(programs: ProgramSet) -> None:
    for name, answer in programs.answers.items():
        texts = [each.read_text(encoding="utf-8") for each in files_of(programs.source(name))]
        for piece in answer.lines:
            assert any(lines_of(text, (piece,)) for text in texts), (name, piece)


def test_each_script_has_an_answer() -> None:
    assert scripts_of(SEALED) == set(SEALED.answers)
    assert scripts_of(TUNE) == set(SCRIPTS)


def test_each_sealed_defect_costs_what_a_reader_would_notice() -> None:
    assert set(SHARES) == {name for name, answer in SEALED.answers.items() if answer.causes}
    assert 0.15 <= min(SHARES.values()) <= max(SHARES.values()) <= 0.85


def scripts_of(programs: ProgramSet) -> set[str]:
    """Names of the scripts that lie in the folder of a set."""
    folder = Path(benchmarks.accuracy.__file__).parent / programs.name / "programs"
    alone = {path.stem for path in folder.glob("*.py")}
    return alone | {path.name for path in folder.iterdir() if (path / f"{path.name}.py").is_file()}
