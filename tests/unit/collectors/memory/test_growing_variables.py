"""Variables that hold ever more: when they are told, and how often they are looked at."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.collectors.memory.growing_variables import GrowingVariables
from tb_slowdown_plugin.collectors.memory.reachable_tensors import HeldTensors
from tb_slowdown_plugin.collectors.memory.tensor_census import TensorGroup
from tb_slowdown_plugin.collectors.memory.tensor_holders import Holder

MEBIBYTE = 2**20


class Program:
    """Variables with what they hold, in MiB, and a clock; a look takes `seconds`."""

    def __init__(self):
        self.now = 0.0
        self.seconds = 0.005
        self.variables = {}
        self.looks = []
        self.growing = GrowingVariables(self, 7, lambda: int(self.now * 1e9))

    def find(self, thread, scripts, most):
        assert (thread, most) == (7, 3)
        self.looks.append(self.now)
        self.now += self.seconds
        return [
            HeldTensors(Holder(name), TensorGroup("float32 ()", 1, int(held * MEBIBYTE)))
            for name, held in self.variables.items()
        ]

    def look(self, **variables):
        """At once, whether one is due or not."""
        self.variables = variables
        self.now += 1e5
        return {
            each.held.holder.text: (each.grown_bytes / MEBIBYTE, each.is_news)
            for each in self.growing.look({})
        }


@pytest.fixture
def program():
    return Program()


def test_it_is_told_where_it_got_more_twice_and_again_when_it_is_a_good_deal_more(program):
    assert program.look(history=2, images=900) == {}
    assert program.look(history=4, images=900) == {}
    assert program.look(history=6, images=900) == {"history": (4, True)}
    assert program.look(history=6.5, images=900) == {"history": (4.5, False)}
    assert program.look(history=6.75, images=900) == {"history": (4.75, True)}
    assert program.look(history=6.75, images=900) == {}


def test_of_what_was_large_before_the_first_growth_is_told(program):
    assert program.look(images=900) == program.look(images=910) == {}
    assert program.look(images=920) == {"images": (20, True)}
    assert program.look(images=930) == {"images": (30, False)}


def test_what_is_filled_and_cleared_or_grows_by_little_is_not_told(program):
    for number in range(40):
        assert program.look(rollout=2 + 9 * (number % 2), losses=0.02 * number) == {}


@pytest.mark.parametrize(
    ("seconds", "waits"), [(0.005, [5, 5, 5, 10, 20]), (0.05, [25, 25, 25, 25, 25])]
)
def test_looks_get_rarer_and_take_two_thousandths_of_the_time(program, seconds, waits):
    program.seconds = seconds
    while len(program.looks) <= len(waits):
        list(program.growing.look({}))
        program.now = round(program.now + 0.05, 2)
    found = [
        after - before for before, after in zip(program.looks, program.looks[1:], strict=False)
    ]
    assert found == pytest.approx(waits, abs=0.2)
