"""Which calls make a step, by what was called in which order."""

from __future__ import annotations

import itertools

import pytest

from tb_slowdown_plugin.writer.launch.training.step_cycle import StepCycle, Training

NAMES = {letter: Training(f"{letter} (train.py:1)", letter) for letter in "cdfgpt"}
NAMES["s"] = Training("s (train.py:1)", "s", trains=False)


class Rows:
    """Takes the part of a recorder: the calls of each step, and the kinds."""

    def __init__(self) -> None:
        self.in_step = False
        self.kinds: list[str] = []
        self._kind = ""

    def begin(self, step: object = None, items: object = None, kind: str = "train") -> None:
        assert not self.in_step
        self.in_step = True
        self._kind = kind

    def end(self) -> None:
        assert self.in_step
        self.in_step = False
        self.kinds.append(self._kind)

    def cancel(self) -> None:
        assert self.in_step
        self.in_step = False


def counts_of(calls: str) -> tuple[list[str], list[tuple[str, int]]]:
    """The kinds of the steps, and what was told of rules: letters of functions, and steps."""
    rows, rules = Rows(), []
    cycle = StepCycle(
        rows, lambda turn, steps: rules.append(("".join(each.kind for each in turn), steps))
    )
    for letter in calls:
        cycle.enter(NAMES[letter])
        cycle.leave()
    cycle.close()
    assert not rows.in_step
    return rows.kinds, rules


def steps_of(calls: str) -> tuple[list[str], list[str]]:
    """The kinds of the steps, and the rules."""
    kinds, rules = counts_of(calls)
    return kinds, list(dict.fromkeys(rule for rule, _ in rules))


@pytest.mark.parametrize(
    ("calls", "steps", "rule"),
    [
        ("t" * 50, 50, "t"),
        ("t", 1, "t"),
        ("dg" * 50, 50, "dg"),
        ("dgg" * 50, 50, "dg"),
        ("dcg" * 50, 50, "dcg"),
    ],
)
def test_a_turn_of_the_cycle_is_a_step(calls: str, steps: int, rule: str) -> None:
    assert steps_of(calls) == (["train"] * steps, [rule])


def test_what_only_computes_is_another_kind_than_what_trains_after_it() -> None:
    assert steps_of("s" * 20 + "t" * 30) == (["s"] * 20 + ["t"] * 30, ["s", "t"])


def test_where_turns_differ_a_step_ends_with_the_first_function_of_the_next() -> None:
    kinds, rules = steps_of("dddddg" * 20)
    assert kinds == ["train"] * 100
    assert rules == ["d", "dg"]


def test_a_function_that_is_called_alone_later_has_steps_of_its_own_kind() -> None:
    kinds, rules = steps_of("p" * 40 + "f" * 60)
    assert kinds == ["train"] * 40 + ["f"] * 60
    assert rules == ["p", "f"]


def test_parts_that_come_back_keep_their_kind() -> None:
    kinds, _ = steps_of("p" * 10 + "f" * 10 + "p" * 10)
    assert kinds == ["train"] * 10 + ["f"] * 10 + ["train"] * 10


def test_a_single_call_before_the_loop_does_not_merge_its_steps() -> None:
    kinds, _ = steps_of("p" + "t" * 100)
    assert 98 <= len(kinds) <= 101
    assert kinds.count("t") == len(kinds) - 1


def test_the_rule_of_the_loop_is_told_after_a_single_call_before_it() -> None:
    kinds, rules = counts_of("p" + "t" * 1_113)
    assert len(kinds) == 1_111
    assert rules == [("pt", 1), ("t", 1), ("t", 10), ("t", 100), ("t", 1_000), ("t", 1_110)]


def test_one_rule_is_told_once_and_of_many_a_few() -> None:
    assert counts_of("t" * 5_000)[1] == [("t", 1)]
    rules = counts_of("".join("t" + letters for letters in ("c", "d", "f", "g", "p") * 30))[1]
    assert len({rule for rule, _ in rules}) <= 8
    turns = ["t" + "".join(pair) for pair in itertools.permutations("cdfgp", 2)]
    assert len({rule for rule, _ in counts_of("".join(turns))[1]}) == 8


def test_a_step_that_ends_at_its_last_call_is_closed_when_that_call_returns() -> None:
    rows = Rows()
    cycle = StepCycle(rows, lambda *_: None)
    open_after = []
    for letter in "dgdg":
        cycle.enter(NAMES[letter])
        cycle.leave()
        open_after.append(rows.in_step)
    assert open_after == [True, True, True, False]  # the first turn waits for the next to begin


def test_a_call_that_raised_is_no_step() -> None:
    rows = Rows()
    cycle = StepCycle(rows, lambda *_: None)
    cycle.enter(NAMES["t"])
    cycle.forget()
    cycle.enter(NAMES["t"])
    cycle.leave()
    cycle.close()
    assert rows.kinds == ["train"]
