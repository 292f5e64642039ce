"""Objects have the lines that made them as long as they live, and no longer."""

import gc
import inspect

import pytest

from tb_slowdown_plugin.collectors.keras.made_lines import MadeLines

HERE = "tests/unit/collectors/keras/test_made_lines.py"


class Base:
    """What a library defines; its `__init__` is surrounded by hand."""

    def __init__(self, lines):
        for _ in lines.remember(self):
            pass


class Derived(Base):
    def __init__(self, lines):
        super().__init__(lines)


@pytest.fixture(autouse=True)
def _here(monkeypatch, root):
    monkeypatch.chdir(root)


@pytest.mark.parametrize("kind", [Base, Derived])
def test_the_line_is_that_which_calls_the_class(kind):
    lines = MadeLines(most=2)
    line = inspect.currentframe().f_lineno + 1
    made = kind(lines)
    assert lines.line_of(made) == f"{HERE}:{line}"
    assert list(lines) == [(made, f"{HERE}:{line}")]


def test_one_that_is_gone_is_forgotten_and_makes_room():
    lines = MadeLines(most=1)
    made = Base(lines)
    beyond = Base(lines)
    assert lines.line_of(beyond) == ""
    del made
    gc.collect()
    assert list(lines) == []
    later = Base(lines)
    assert lines.line_of(later).startswith(HERE)


def test_all_of_them_can_be_forgotten():
    lines = MadeLines(most=2)
    made = Base(lines)
    lines.clear()
    assert (lines.line_of(made), list(lines)) == ("", [])
