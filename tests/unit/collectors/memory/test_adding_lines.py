"""The line that makes a container or a history larger, by the code that runs."""

from __future__ import annotations

from types import CodeType

import pytest

from tb_slowdown_plugin.collectors.memory.adding_lines import Scope, find_adding_line

SOURCE = """\
bank = zeros()
for step in range(3):
    query = bank + 1
    bank = concat(bank, query)
history = []
def train(batches):
    history.append(batches)
    seen = []
    for each in batches:
        seen.append(each)
    other = 1
    return seen
by_step = {}
while going_on():
    by_step[step] = query
class Replay:
    def __init__(self):
        self.pairs = []
        self.memory = None
    def add(self, pair):
        self.pairs += [pair]
        self.memory = concat(self.memory, pair)
made_once = zeros()
class Bank:
    def mix(self, fresh):
        if self.rows is None:
            self.rows = fresh
            return
        self.rows = concat(
            [self.rows, fresh], 0
        )
        if full():
            self.rows = fresh
"""


def codes_in(code: CodeType) -> dict[str, CodeType]:
    inner = [each for each in code.co_consts if isinstance(each, CodeType)]
    return {name: each for code in inner for name, each in codes_in(code).items()} | {
        each.co_name: each for each in inner
    }


SCRIPT = compile(SOURCE, "train.py", "exec")
CODES = codes_in(SCRIPT)


@pytest.mark.parametrize(
    ("name", "scope", "where", "line"),
    [
        ("bank", "global", "<module>", 4),
        ("history", "global", "train", 7),
        ("seen", "local", "train", 10),
        ("by_step", "global", "<module>", 15),
        ("pairs", "attribute", "add", 21),
        ("memory", "attribute", "add", 22),
        ("rows", "attribute", "mix", 29),
    ],
)
def test_the_line_that_adds_is_found(name: str, scope: Scope, where: str, line: int) -> None:
    codes = [CODES["train"]] if scope == "local" else [SCRIPT]
    found = find_adding_line(codes, name, scope)
    assert found is not None
    assert (found[0].co_name, found[1]) == (where, line)


@pytest.mark.parametrize(
    ("name", "scope"),
    [("made_once", "global"), ("other", "local"), ("seen", "global"), ("unknown", "attribute")],
)
def test_what_is_made_once_has_no_such_line(name: str, scope: Scope) -> None:
    codes = [CODES["train"]] if scope == "local" else [SCRIPT]
    assert find_adding_line(codes, name, scope) is None
