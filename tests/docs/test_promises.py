"""Each promise of docs/testing.md has tests that exist and run in the gate."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs/testing.md").read_text(encoding="utf-8")
ROWS = re.findall(r"(?m)^\| (?!\*\*)(.+?) \| (`test_\w+\.py::.*) \|$", PAGE)
"""A promise, and the tests that guard it."""


def is_left_out(test: ast.FunctionDef) -> bool:
    """Whether a mark keeps all of a test out of the gate."""
    return any(ast.unparse(mark) == "pytest.mark.further" for mark in test.decorator_list)


def find_tests(file: str) -> set[str]:
    """The tests in files of that name that run in the gate."""
    modules = [
        ast.parse(path.read_text(encoding="utf-8"))
        for path in (Path(__file__).parents[1]).rglob(file)
    ]
    return {
        test.name
        for module in modules
        for test in ast.walk(module)
        if isinstance(test, ast.FunctionDef) and not is_left_out(test)
    }


def test_each_row_of_the_table_is_read() -> None:
    rows = [line for line in PAGE.splitlines() if "::" in line and line.startswith("| ")]
    assert len(rows) == len(ROWS) >= 50


@pytest.mark.parametrize(("promise", "guards"), ROWS, ids=[promise for promise, _ in ROWS])
def test_a_promise_is_guarded_by_tests_that_run(promise: str, guards: str) -> None:
    named = re.findall(r"`(test_\w+\.py)::(test_\w+)`", guards)
    assert len(named) == guards.count("::")
    gone = [f"{file}::{test}" for file, test in named if test not in find_tests(file)]
    assert gone == []
