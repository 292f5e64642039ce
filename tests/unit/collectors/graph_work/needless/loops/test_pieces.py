"""Loops that take a tensor apart or put it together are told where each piece costs the whole."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.collectors.graph_work.needless.loops.pieces import find_pieces
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

EXAMPLES, STEPS, UNITS = 32, 100, 128


def find(outputs_of, *, learns=True):
    """In a step with a layer before the loop, which takes (EXAMPLES, STEPS, UNITS)."""
    layer = tf.Variable(tf.eye(UNITS))
    after = tf.Variable(1.0)
    kept = []

    @tf.function(input_signature=[tf.TensorSpec([EXAMPLES, STEPS, UNITS])])
    def step(x):
        with tf.GradientTape() as tape:
            states = tf.matmul(x, layer) if learns else x
            loss = tf.reduce_sum(after * outputs_of(states))
        kept.append(([loss], tape.gradient(loss, [layer, after] if learns else [after])))
        return loss

    function = step.get_concrete_function()  # alive while its graph is looked at
    found = find_pieces(StepGraph(*kept[-1]))
    del function
    return found


def sliced(states):
    state = tf.zeros((EXAMPLES, UNITS))
    for t in range(STEPS):
        state = tf.tanh(state + states[:, t])
    return state


def sliced_in_the_graph(states):
    state = tf.zeros((EXAMPLES, UNITS))
    for t in tf.range(STEPS):
        state = tf.tanh(state + states[:, t])
    return state


def grown_in_the_graph(states):
    state, outputs = states[:, 0], tf.zeros((EXAMPLES, 0, UNITS))
    for _ in tf.range(STEPS):
        tf.autograph.experimental.set_loop_options(
            shape_invariants=[(outputs, tf.TensorShape([EXAMPLES, None, UNITS]))]
        )
        state = tf.tanh(state)
        outputs = tf.concat([outputs, state[:, tf.newaxis]], 1)
    return outputs


@pytest.mark.parametrize(
    ("outputs_of", "kind", "grown", "rolled"),
    [
        (sliced, "StridedSlice", 0, 0),
        (sliced_in_the_graph, "StridedSlice", 0, 1),
        (grown_in_the_graph, "ConcatV2", 1, 1),
    ],
)
def test_a_tensor_that_is_moved_for_each_piece_is_most_of_a_small_step(
    outputs_of, kind, grown, rolled
):
    found = find(outputs_of)
    assert (found.operation.type, found.times) == (kind, STEPS)
    assert (found.grown, found.rolled) == (grown, rolled)
    assert 0.5 < found.share < 1


def unstacked(states):
    state = tf.zeros((EXAMPLES, UNITS))
    for piece in tf.unstack(states, axis=1):
        state = tf.tanh(state + piece)
    return state


def in_arrays(states):
    given = tf.TensorArray(tf.float32, STEPS).unstack(tf.transpose(states, [1, 0, 2]))
    made = tf.TensorArray(tf.float32, STEPS)
    state = tf.zeros((EXAMPLES, UNITS))
    for t in tf.range(STEPS):
        state = tf.tanh(state + given.read(t))
        made = made.write(t, state)
    return made.stack()


def four_parts(states):
    gates = [states[:, :, part * 32 : part * 32 + 32] for part in range(4)]
    return gates[0] * gates[1] + gates[2] * gates[3]


def looked_back_at(states):
    """Each round needs all that the rounds before it have made."""
    outputs = states[:, :1]
    for _ in tf.range(STEPS):
        tf.autograph.experimental.set_loop_options(
            shape_invariants=[(outputs, tf.TensorShape([EXAMPLES, None, UNITS]))]
        )
        outputs = tf.concat([outputs, tf.reduce_mean(outputs, 1, keepdims=True)], 1)
    return outputs


@pytest.mark.parametrize("outputs_of", [unstacked, in_arrays, four_parts, looked_back_at])
def test_what_is_moved_once_or_is_needed_is_not_told(outputs_of):
    assert find(outputs_of) is None


@pytest.mark.parametrize("outputs_of", [sliced, sliced_in_the_graph])
def test_slices_of_what_gets_no_gradient_are_views(outputs_of):
    assert find(outputs_of, learns=False) is None
