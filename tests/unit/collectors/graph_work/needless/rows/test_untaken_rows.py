"""Products are told of which a few rows are used; not those of which others are, too."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.collectors.graph_work.needless.rows.untaken_rows import find_untaken_rows
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")

EXAMPLES, STEPS, UNITS, WORDS = 16, 40, 32, 500


def find(loss_of, examples=EXAMPLES):
    """In a step with two layers over a sequence: (EXAMPLES, STEPS, UNITS)."""
    layers = keras.layers.Dense(64, "relu"), keras.layers.Dense(WORDS)
    layers[0].build((None, UNITS))
    layers[1].build((None, 64))
    kept = []

    @tf.function(input_signature=[tf.TensorSpec([examples, STEPS, UNITS])])
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(loss_of(x, *layers))
        variables = [each for layer in layers for each in layer.trainable_variables]
        gradients = tape.gradient(loss, variables)
        kept.append(([loss], [each for each in gradients if each is not None]))
        return loss

    function = step.get_concrete_function()  # alive while its graph is looked at
    found = find_untaken_rows(StepGraph(*kept[-1]))
    del function
    return found


def of_the_last(x, hidden, head):
    return tf.nn.log_softmax(head(hidden(x)))[:, -1]


def of_some(x, hidden, head):
    return tf.gather(head(hidden(x)), [3, 7], axis=1)


@pytest.mark.parametrize(("loss_of", "taken"), [(of_the_last, 1), (of_some, 2)])
def test_layers_over_all_steps_of_which_a_few_are_used_are_most_of_a_step(loss_of, taken):
    found = find(loss_of)
    assert found.operation.type == "MatMul"
    assert sorted(found.operation.outputs[0].shape) == [WORDS, EXAMPLES * STEPS]
    assert (found.made, found.taken) == (EXAMPLES * STEPS, EXAMPLES * taken)
    assert 0.5 < found.share < 1


def test_a_batch_of_any_size_is_one_of_32():
    assert (find(of_the_last, None).made, find(of_the_last, None).taken) == (32 * STEPS, 32)


def of_the_diagonal(x, hidden, head):
    one, other = (tf.reshape(each, (EXAMPLES * STEPS, -1)) for each in (x, hidden(x)[..., :UNITS]))
    return tf.linalg.diag_part(tf.matmul(one, other, transpose_b=True) / 0.1)


def test_a_product_of_which_the_diagonal_is_used_is_told_so():
    found = find(of_the_diagonal)
    assert (found.made, found.taken, found.diagonal) == (
        (EXAMPLES * STEPS) ** 2,
        EXAMPLES * STEPS,
        1,
    )
    assert 0.2 < found.share < 1


def of_a_few_scores(x, hidden, head):
    scores = head(hidden(x[:, 0]))
    wanted, others = tf.zeros((EXAMPLES, 1), tf.int32), tf.ones((EXAMPLES, 4), tf.int32)
    found = [tf.gather(scores, ids, batch_dims=1) for ids in (wanted, others)]
    return found[0] - found[1]


def test_scores_of_which_a_few_are_looked_up_are_told_in_numbers():
    found = find(of_a_few_scores)
    assert (found.made, found.taken) == (EXAMPLES * WORDS, EXAMPLES * 5)
    assert (found.numbers, found.diagonal) == (1, 0)


def of_all(x, hidden, head):
    outputs = head(hidden(x))
    return tf.reduce_mean(outputs) + tf.reduce_mean(outputs[:, -1])


def taken_before(x, hidden, head):
    return head(hidden(x[:, -1]))


def summed_before(x, hidden, head):
    """Each row needs all others."""
    return tf.cumsum(hidden(x), axis=1)[:, -1]


def some_that_are_chosen(x, hidden, head):
    """Nobody knows how many."""
    return tf.boolean_mask(head(hidden(x)), x[..., 0] > 0)


def normalized(x, hidden, head):
    """Each number needs all others of its row."""
    chances = tf.nn.softmax(head(hidden(x[:, 0])))
    return tf.gather(chances, tf.zeros((EXAMPLES, 1), tf.int32), batch_dims=1)


def half_of_them(x, hidden, head):
    return head(hidden(x))[:, ::2]


@pytest.mark.parametrize(
    "loss_of", [of_all, taken_before, summed_before, some_that_are_chosen, normalized, half_of_them]
)
def test_rows_that_are_needed_are_not_told(loss_of):
    assert find(loss_of) is None
