"""The place that a report names is held against statements, functions, and classes."""

from __future__ import annotations

from benchmarks.accuracy.sealed.__main__ import SEALED
from benchmarks.accuracy.styles import lines_of

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


def test_each_answer_names_lines_that_are_there() -> None:
    for name, answer in SEALED.answers.items():
        text = SEALED.source(name).read_text(encoding="utf-8")
        for piece in answer.lines:
            assert lines_of(text, (piece,)), (name, piece)
