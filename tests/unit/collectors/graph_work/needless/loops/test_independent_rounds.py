"""Loops over examples are told where no round needs another one's results."""

from __future__ import annotations

from pathlib import Path

import pytest

from tb_slowdown_plugin.collectors.graph_work.needless.loops.independent_rounds import (
    find_independent_rounds,
)
from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

EXAMPLES, NUMBERS = 24, 16


@pytest.fixture
def find(look_at_step):
    """In a step with a layer of `NUMBERS` units, of so many examples."""
    return lambda loss_of, examples=EXAMPLES: look_at_step(
        find_independent_rounds, loss_of, examples, NUMBERS
    )


def of_one(pair):
    return tf.reduce_sum(tf.square(pair[0] - pair[1]))


def by_map(outputs, x):
    return tf.reduce_sum(tf.map_fn(of_one, (outputs, x), fn_output_signature=tf.float32))


def added_up(outputs, x):
    loss = 0.0
    for at in tf.range(EXAMPLES):
        loss += of_one((outputs[at], x[at]))
    return loss


@pytest.mark.parametrize(("loss_of", "line"), [(by_map, 1), (added_up, 2)])
def test_a_loop_over_examples_is_most_of_a_small_step(find, loss_of, line):
    found = find(loss_of)
    assert found.times == EXAMPLES
    place = SourcePlaces.of_process().of_operation(found.operation)
    assert place.startswith(f"{loss_of.__name__} (")  # not in the function that it calls
    assert place.endswith(f"{Path(__file__).name}:{loss_of.__code__.co_firstlineno + line})")
    assert found.share > 0.8


def test_a_batch_of_any_size_is_one_of_32(find):
    assert find(by_map, None).times == 32


def at_once(outputs, x):
    return tf.reduce_sum(tf.vectorized_map(of_one, (outputs, x)))


def one_after_another(outputs, x):
    state = tf.zeros(NUMBERS)
    for at in tf.range(EXAMPLES):
        state = tf.tanh(state + outputs[at])
    return tf.reduce_sum(state)


def of_the_rest(outputs, x):
    loss = 0.0
    for at in tf.range(EXAMPLES):
        loss += tf.reduce_sum(tf.square(outputs[at])) * tf.exp(-loss)
    return loss


def of_those_above(pair):
    above = tf.where(pair[1] > 0)
    return tf.reduce_sum(tf.gather(pair[0], above))


def of_other_shapes(outputs, x):
    return tf.reduce_sum(tf.map_fn(of_those_above, (outputs, x), fn_output_signature=tf.float32))


@pytest.mark.parametrize("loss_of", [at_once, one_after_another, of_the_rest, of_other_shapes])
def test_rounds_that_need_each_other_or_give_other_shapes_are_not_told(find, loss_of):
    assert find(loss_of) is None
