"""The same for one example after the other, in a loop of Python, is told where rounds are alike."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.collectors.graph_work.needless.loops.unrolled_rounds import (
    find_unrolled_rounds,
)

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

EXAMPLES, NUMBERS = 24, 20


@pytest.fixture
def find(look_at_step):
    """In a step with a layer of `NUMBERS` units, of so many examples."""
    return lambda loss_of, examples=EXAMPLES: look_at_step(
        find_unrolled_rounds, loss_of, examples, NUMBERS
    )


def of_one(pair):
    return tf.reduce_sum(tf.square(pair[0] - pair[1]))


def sliced(outputs, x):
    loss = 0.0
    for at in range(outputs.shape[0]):
        loss += of_one((outputs[at], x[at]))
    return loss


def unstacked(outputs, x):
    pairs = zip(tf.unstack(outputs), tf.unstack(x), strict=True)
    return tf.reduce_mean(tf.stack([of_one(pair) for pair in pairs]))


def by_columns(outputs, x):
    return tf.add_n([of_one((outputs[:, at], x[:, at])) for at in range(NUMBERS)])


@pytest.mark.parametrize(
    ("loss_of", "times", "first"),
    [
        (sliced, EXAMPLES, "StridedSlice"),
        (unstacked, EXAMPLES, "Sub"),
        (by_columns, NUMBERS, "StridedSlice"),
    ],
)
def test_a_loop_of_python_over_pieces_is_most_of_a_small_step(find, loss_of, times, first):
    found = find(loss_of)
    assert (found.times, found.operation.type) == (times, first)
    assert 0.4 < found.share < 0.9


def at_once(outputs, x):
    return tf.reduce_sum(tf.square(outputs - x))


def one_after_another(outputs, x):
    state = tf.zeros(NUMBERS)
    for at in range(EXAMPLES):
        state = tf.tanh(state + outputs[at])
    return tf.reduce_sum(state)


def with_weights_of_their_own(outputs, x):
    weights = [tf.constant(1.0 + at) for at in range(EXAMPLES)]
    return tf.add_n([weights[at] * of_one((outputs[at], x[at])) for at in range(EXAMPLES)])


def of_other_shapes(outputs, x):
    return tf.add_n([tf.reduce_sum(tf.square(outputs[at:])) for at in range(EXAMPLES)])


def of_those_above(outputs, x):
    above = [tf.gather(outputs[at], tf.where(x[at] > 0)) for at in range(EXAMPLES)]
    return tf.add_n([tf.reduce_sum(each) for each in above])


@pytest.mark.parametrize(
    "loss_of",
    [at_once, one_after_another, with_weights_of_their_own, of_other_shapes, of_those_above],
)
def test_rounds_that_need_each_other_or_differ_are_not_told(find, loss_of):
    assert find(loss_of) is None


def test_a_few_rounds_are_branches(find):
    assert find(sliced, examples=19) is None
