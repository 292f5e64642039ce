"""Which calls of a jitted function compile: told by their shapes and by how long they took."""

import pytest

from tb_slowdown_plugin.collectors.xla.compilations import ShapesInPython, ShapesNoted
from tb_slowdown_plugin.collectors.xla.constant_inputs import (
    NeededValue,
)
from tb_slowdown_plugin.collectors.xla.graph_calls import NotedCall

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")


def test_the_steady_run_stays_with_the_step():
    shapes = ShapesInPython("step", [1], [NeededValue(0, "begin")])

    def run(value, rows, took_ns):
        given = shapes.look([tf.constant(value), tf.ones((rows, 2))], [])
        compilation = shapes.note(given, took_ns)
        return compilation and (
            compilation.excess_ns,
            compilation.shapes_seen,
            compilation.values_seen,
        )

    assert run(0, 2, 90) is None
    assert run(0, 2, 10) is None
    assert run(0, 3, 75) == (65, 2, 1)
    assert run(0, 3, 12) is None
    assert run(0, 4, 60) == (50, 3, 1)
    assert run(7, 4, 70) == (60, 3, 2)
    assert run(7, 4, 9) is None
    assert run(7, 2, 70) == (61, 3, 2)


class Noted:
    """A graph that has noted what the test says: two dimensions and one value."""

    subject = "step"
    dimensions = 2
    split = NotedCall.split

    def __init__(self, adds_up=False):
        self.adds_up = adds_up
        self.now = (0, 0, 0)
        self.readings = 0

    def read(self):
        self.readings += 1
        return self.now


def test_only_long_runs_are_looked_at_and_known_shapes_are_no_compilation():
    call = Noted()
    shapes = ShapesNoted(call)
    millisecond = 1_000_000
    call.now = (2, 4, 0)
    assert shapes.note(None, 300 * millisecond) is None  # the new graph itself
    assert shapes.note(None, 10 * millisecond) is None
    call.now = (2, 3, 0)
    assert shapes.note(None, 9 * millisecond).excess_ns == 0  # early: looked at all the same
    call.now = (2, 4, 0)
    for _ in range(10):
        assert shapes.note(None, 10 * millisecond) is None
    readings = call.readings
    call.now = (2, 5, 0)
    compilation = shapes.note(None, 80 * millisecond)
    assert compilation.excess_ns == 70 * millisecond
    assert (compilation.shapes_seen, compilation.values_seen) == (3, 1)
    assert shapes.note(None, 60 * millisecond) is None  # a busy machine
    for _ in range(100):
        assert shapes.note(None, 10 * millisecond) is None
    assert call.readings == readings + 2
    call.now = (2, 5, 1)
    compilation = shapes.note(None, 90 * millisecond)
    assert (compilation.shapes_seen, compilation.values_seen) == (3, 2)


def test_a_graph_of_two_steps_needs_a_clear_excess():
    call = Noted(adds_up=True)
    shapes = ShapesNoted(call)
    millisecond = 1_000_000
    took = {(2, 8): (300, 20), (2, 9): (25,), (2, 10): (40,)}
    found = []
    total = (0, 0, 0)
    for added, runs in took.items():
        for run in runs:
            total = (total[0] + added[0], total[1] + added[1], 0)
            call.now = total
            found.append(shapes.note(None, run * millisecond))
    assert [each and each.excess_ns // millisecond for each in found] == [None, None, None, 20]
