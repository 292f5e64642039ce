"""Of steps that run no graph it is known what one would spare."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.prepare.eager_training import (
    find_eager_training,
)
from tb_slowdown_plugin.records.types import Fact

SIZE = 400
GRADIENTS, GRAPH = 0b1, 0b10


def stack(line, samples, of=20, **numbers):
    counts = {name: float(number) for name, number in numbers.items()}
    place = f"step (train.py:{line})"
    return Fact("python_stack", place, {"samples": float(samples), "of": float(of)} | counts)


SMALL = [stack(7, 12, eager_training=12), stack(6, 8, no_graph=8)]
LARGE = [
    stack(7, 12, eager_training=12, long_training=5),
    stack(6, 8, no_graph=8, long_operation=3),
]


def run_of(make_run, facts, ran=GRADIENTS, sets=5):
    events = [(10 * nth, fact) for nth in range(1, sets + 1) for fact in facts]
    run = make_run(np.full(SIZE, 0.1), events=events)
    return replace(run, steps=replace(run.steps, ran=np.broadcast_to(ran, SIZE)))


def test_nearly_all_of_a_step_of_small_operations_is_their_start(make_run):
    run = run_of(make_run, SMALL)
    found = find_eager_training(run)
    assert (found.place, found.samples, found.long, found.of) == ("step (train.py:7)", 100, 0, 100)
    assert found.share == pytest.approx(0.81)


def test_operations_that_go_on_are_left_to_the_step_twice(make_run):
    run = run_of(make_run, [stack(7, 20, no_graph=20, long_operation=4)])
    assert find_eager_training(run).share == pytest.approx(0.81 * (1 - 2 * 0.2))


@pytest.mark.parametrize(
    ("facts", "ran", "sets"),
    [
        (SMALL, GRAPH, 5),
        (SMALL, np.where(np.arange(SIZE) % 4, GRADIENTS, GRAPH), 5),
        (SMALL, 0, 5),
        (LARGE, GRADIENTS, 5),
        ([stack(7, 4, no_graph=4)], GRADIENTS, 5),
        ([stack(7, 3, of=3, no_graph=3)], GRADIENTS, 5),
        ([], GRADIENTS, 5),
    ],
    ids=["graphs", "some graphs", "unknown", "large", "seldom", "few samples", "no samples"],
)
def test_what_trains_in_graphs_or_computes_much_at_once_is_none(make_run, facts, ran, sets):
    assert find_eager_training(run_of(make_run, facts, ran, sets=sets)) is None
