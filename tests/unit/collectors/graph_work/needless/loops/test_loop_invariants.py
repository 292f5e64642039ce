"""What a loop of a graph computes again, though nothing of it changes, is found and counted."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.collectors.graph_work.needless.loops.loop_invariants import (
    find_loop_invariants,
)
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph
from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

ROUNDS, LENGTH, UNITS = 12, 1024, 256


def find(attend):
    """With a state of each round, of which the next one is made."""
    project, turn = (tf.Variable(tf.ones((UNITS, UNITS))) for _ in range(2))
    kept = []

    @tf.function(input_signature=[tf.TensorSpec([LENGTH, UNITS])])
    def step(memory):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(attend(memory, project, turn))
        kept.append(StepGraph([loss], tape.gradient(loss, [project, turn])))
        return loss

    function = step.get_concrete_function()  # alive while its graph is looked at
    found = find_loop_invariants(*kept)
    place = SourcePlaces.of_process().of_operation(found.operation) if found else ""
    del function
    return found, place


def look_at(keys, state, turn):
    weights = tf.nn.softmax(tf.matmul(state, keys, transpose_b=True))
    return tf.tanh(tf.matmul(tf.matmul(weights, keys), turn))


def in_each_round(memory, project, turn):
    state = tf.zeros((1, UNITS))
    for _ in tf.range(ROUNDS):
        state = look_at(tf.matmul(memory, project), state, turn)
    return state


def once_before(memory, project, turn):
    state, keys = tf.zeros((1, UNITS)), tf.matmul(memory, project)
    for _ in tf.range(ROUNDS):
        state = look_at(keys, state, turn)
    return state


def of_other_numbers(memory, project, turn):
    state = tf.zeros((1, UNITS))
    for shift in tf.range(ROUNDS):
        state = look_at(tf.matmul(tf.roll(memory, shift, 0), project), state, turn)
    return state


def with_other_noise(memory, project, turn):
    state = tf.zeros((1, UNITS))
    for _ in tf.range(ROUNDS):
        state = look_at(tf.matmul(tf.nn.dropout(memory, 0.5), project), state, turn)
    return state


def until_it_is_enough(memory, project, turn):
    state = tf.zeros((1, UNITS))
    while tf.reduce_sum(state) < 100.0:
        state = look_at(tf.matmul(memory, project), state, turn)
    return state


def test_products_of_all_rounds_but_one_are_counted_with_their_gradients():
    found, place = find(in_each_round)
    assert found.times == ROUNDS
    assert found.operation.type == "MatMul"
    assert place.startswith("in_each_round (")
    # 14.4 of 20.5 ms are measured
    assert found.share == pytest.approx(0.75, abs=0.12)


@pytest.mark.parametrize(
    "attend", [once_before, of_other_numbers, with_other_noise, until_it_is_enough]
)
def test_what_is_computed_once_or_of_other_numbers_is_not_told(attend):
    assert find(attend) == (None, "")


def test_a_loop_that_has_only_small_work_to_spare_is_not_told():
    def shift_a_little(memory, project, turn):
        state = tf.zeros((1, UNITS))
        for _ in tf.range(ROUNDS):
            state = tf.matmul(state, turn) + tf.math.tanh(memory[:1]) + project[0]
        return state

    assert find(shift_a_little) == (None, "")


def test_a_variable_that_the_loop_changes_may_be_another_in_each_round():
    def step_by_step(memory, project, turn):
        state = tf.zeros((1, UNITS))
        for _ in tf.range(ROUNDS):
            state = look_at(tf.matmul(memory, project), state, turn)
            turn.assign_add(tf.ones_like(turn))
        return state

    assert find(step_by_step) == (None, "")
