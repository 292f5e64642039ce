"""Gradients of one target are asked of one tape again, and only those are counted."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.collectors.graph_work.gradients.repeated_gradients import RepeatedGradients


class Tape:
    """What a tape says of itself."""

    def __init__(self, persistent=True):
        self._persistent = persistent


class Loss:
    """A tensor."""


def test_all_calls_of_one_target_are_counted_line_by_line():
    found, tape, loss = RepeatedGradients(), Tape(), Loss()
    found.note(tape, [loss], "train (a.py:9)", {1: 10, 2: 20})
    found.note(tape, [loss], "train (a.py:9)", {3: 30})
    found.note(tape, [loss], "train (a.py:10)", {4: 5})
    assert found.numbers() == {
        "train (a.py:9)": {
            "variables": 3.0, "updated": 3.0, "elements": 60.0, "updated_elements": 60.0,
            "repeated": 3.0,
        },
        "train (a.py:10)": {
            "variables": 1.0, "updated": 1.0, "elements": 5.0, "updated_elements": 5.0,
            "repeated": 3.0,
        },
    }  # fmt: skip


@pytest.mark.parametrize("what", ["other targets", "other tapes", "tapes that give once"])
def test_what_no_single_call_could_give_is_not_counted(what):
    found, tapes, losses = RepeatedGradients(), [Tape(), Tape()], [Loss(), Loss()]
    if what == "other targets":
        tapes[1] = tapes[0]
    elif what == "other tapes":
        losses[1] = losses[0]
    else:
        tapes, losses = [Tape(persistent=False)] * 2, [losses[0]] * 2
    for tape, loss in zip(tapes, losses, strict=True):
        found.note(tape, [loss], "train (a.py:9)", {1: 10})
    assert found.numbers() == {}


def test_a_tape_in_the_place_of_one_that_is_gone_is_another():
    found, loss = RepeatedGradients(), Loss()
    for _ in range(3):
        found.note(Tape(), [loss], "train (a.py:9)", {1: 10})
    assert found.numbers() == {}
