"""What computes the same of the same has one number, loops by what is in them."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.collectors.graph_work.same_operations import name_operations

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")


def are_same(one, other, *, as_merged=False):
    """Whether two functions give the same of one tensor, by their graph."""
    with tf.Graph().as_default() as graph:
        x = tf.ones((4, 4))
        first, second = one(x), other(x)
        names = name_operations(graph.get_operations(), as_merged=as_merged)
    return names[first.op] == names[second.op]


def loop(rounds, by):
    def run(x):
        limits = {"maximum_iterations": rounds}
        made = tf.while_loop(lambda _: True, lambda y: (y @ x * by,), (x,), **limits)
        return made[0] + 1.0

    return run


@pytest.fixture(autouse=True)
def _loops_of_tensorflow_2():
    tf.compat.v1.enable_control_flow_v2()


def test_operations_are_named_by_what_they_are_made_of():
    assert are_same(lambda x: tf.exp(x) + 1.0, lambda x: tf.exp(x) + 1.0)
    assert not are_same(lambda x: tf.exp(x) + 1.0, lambda x: tf.exp(x) + 2.0)
    assert not are_same(
        lambda x: x + tf.random.uniform((4, 4)), lambda x: x + tf.random.uniform((4, 4))
    )


@pytest.mark.parametrize(
    ("other", "same"), [(loop(5, 2.0), True), (loop(5, 3.0), False), (loop(6, 2.0), False)]
)
def test_loops_are_the_same_by_their_rounds_and_their_body(other, same):
    assert are_same(loop(5, 2.0), other) is same


def test_tensorflow_merges_no_loops():
    assert not are_same(loop(5, 2.0), loop(5, 2.0), as_merged=True)
