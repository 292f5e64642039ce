"""What a step computes in proportion to the columns of its batches, and to their square."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.collectors.graph_work.needless.sequence_work import find_sequence_work
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")
L = keras.layers

ROWS, COLUMNS, UNITS = 8, 100, 32


def find(*layers, spec=None):
    """In a step of these layers on numbers of words."""
    model = keras.Sequential([L.Embedding(50, UNITS), *layers] if spec is None else layers)
    spec = spec or tf.TensorSpec([None, COLUMNS], tf.int32)
    model.build(spec.shape)
    kept = []

    @tf.function(input_signature=[spec])
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x) ** 2)
        kept.append(([loss], tape.gradient(loss, model.trainable_variables)))
        return loss

    function = step.get_concrete_function()
    found = find_sequence_work(StepGraph(*kept[-1]))
    del function
    return found


class Attention(L.Layer):
    def call(self, x):
        return tf.nn.softmax(x @ tf.transpose(x, [0, 2, 1])) @ x


@pytest.mark.parametrize(
    ("layer", "squared"),
    [
        (L.Conv1D(UNITS, 3, padding="same"), 0.0),
        (L.Dense(48), 0.0),
        (L.GRU(UNITS), 0.0),
        (Attention(), 0.5),
    ],
    ids=["convolution", "layer", "recurrent", "attention"],
)
def test_all_that_is_made_of_each_word_counts(layer, squared):
    found = find(layer, L.Dense(4))
    assert found.columns == COLUMNS
    assert found.share + found.squared > 0.8
    assert found.squared >= squared
    assert bool(found.squared) is bool(squared)


def test_what_comes_after_the_words_were_summed_up_does_not():
    found = find(L.GlobalAveragePooling1D(), L.Dense(4096), L.Dense(4096))
    assert 0 < found.share < 0.1


def test_sequences_of_several_numbers_count_too():
    spec = tf.TensorSpec([ROWS, COLUMNS, 4])
    assert find(L.Conv1D(UNITS, 3, padding="same"), spec=spec).share > 0.8


@pytest.mark.parametrize(
    ("layers", "spec"),
    [
        ((L.Dense(8),), tf.TensorSpec([ROWS, COLUMNS])),
        ((L.Conv2D(8, 3),), tf.TensorSpec([ROWS, COLUMNS, COLUMNS, 3])),
    ],
    ids=["features", "images"],
)
def test_other_batches_have_no_such_columns(layers, spec):
    assert find(*layers, spec=spec) is None


def test_of_as_many_units_as_columns_what_is_made_of_each_word_counts_alone():
    words = find(L.Dense(COLUMNS, "relu"), L.Dense(4))
    assert words.columns == COLUMNS
    assert words.share > 0.8
    assert words.squared == 0
    behind = find(L.GlobalAveragePooling1D(), L.Dense(COLUMNS), L.Dense(4096), L.Dense(4096))
    assert 0 < behind.share < 0.1
