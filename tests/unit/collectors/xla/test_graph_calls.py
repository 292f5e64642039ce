"""XLA compiling again inside of graphs: no Python runs where it does."""

import numpy as np
import pytest
from unit.collectors.xla_programs import (
    COMPILES_NS,
    compilations,
    compiled_in,
    make_step,
    rows,
    window_step,
)

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")


def batches(*lengths):
    def generate():
        for length in lengths:
            yield np.ones((2, length), np.float32)

    return tf.data.Dataset.from_generator(
        generate, output_signature=tf.TensorSpec((2, None), tf.float32)
    )


def test_a_jitted_call_inside_a_function_that_is_fed_by_an_iterator(recording, xla_compilations):
    """As Keras writes it: no Python runs where XLA compiles."""
    inner = make_step(reduce_retracing=True)

    @tf.function(autograph=False)
    def train(iterator):
        return inner(next(iterator))

    lengths = (4, 4, 4, 4, 5, 5, 6, 4, 5, 6)
    iterator = iter(batches(*lengths))
    seconds, others = compiled_in(recording, [lambda: train(iterator)] * len(lengths))
    assert [place for place, ns in enumerate(seconds) if ns > COMPILES_NS] == [4, 6]
    assert "first_execution:first" in others[0]
    assert [fact.numbers["shapes_seen"] for fact in compilations(recording)] == [2, 3]
    assert compilations(recording)[0].subject.startswith("make_step.<lambda>")


def test_a_value_inside_a_function_that_is_fed_by_an_iterator(recording, xla_compilations):
    step = window_step(tf.ones((20, 3)))

    @tf.function(autograph=False)
    def train(iterator):
        return step(next(iterator))

    places = [0, 0, 0, 0, 5, 5, 9, 0, 5, 9]
    iterator = iter(tf.data.Dataset.from_tensor_slices(places))
    seconds, _ = compiled_in(recording, [lambda: train(iterator)] * len(places))
    assert [place for place, ns in enumerate(seconds) if ns > COMPILES_NS] == [4, 6]
    facts = [fact for fact in compilations(recording) if fact.name == "xla_compilation"]
    assert [fact.numbers["values_seen"] for fact in facts] == [2, 3]
    assert ": begin, for Slice (" in compilations(recording)[1].subject


def test_a_jitted_call_inside_a_function_that_hands_its_arguments_on(recording, xla_compilations):
    """As Keras's `predict_on_batch` and a strategy's `run` write it."""
    window = window_step(tf.ones((20, 3)))
    inner = make_step(reduce_retracing=True)

    @tf.function(autograph=False, reduce_retracing=True)
    def shapes(x, scale):
        return scale * inner(x)

    @tf.function(autograph=False)
    def values(scale, begin):
        return scale * window(begin)

    one = tf.constant(1.0)
    calls = [lambda x=x: shapes(x, one) for x in rows(3, 4, 4, 5, 5, 6, 4, 5, 6)]
    calls += [lambda i=i: values(one, tf.constant(i)) for i in (0, 0, 7, 7, 0)]
    seconds, _ = compiled_in(recording, calls)
    assert [place for place, ns in enumerate(seconds) if ns > COMPILES_NS] == [3, 5, 11]
    assert [seconds[place] for place in (2, 4, 6, 7, 8, 10, 12, 13)] == [0] * 8
    subjects = [fact.subject for fact in compilations(recording)]
    assert [subject.partition(" (")[0] for subject in subjects] == [
        "make_step.<lambda>",
        "make_step.<lambda>",
        "step",
        "step",
    ]
    assert ": begin, for Slice (" in subjects[-1]


def test_a_function_that_computes_what_it_hands_on_is_not_watched(recording, xla_compilations):
    window = window_step(tf.ones((20, 3)))

    @tf.function(autograph=False)
    def computes(place):
        return window(2 * place)

    for place in (0,) * 33:
        computes(tf.constant(place))
    function = computes.get_concrete_function(tf.constant(0))
    assert "_call_flat" not in vars(function)


def test_several_steps_in_one_graph_are_told_by_the_sum_of_their_shapes(
    recording, xla_compilations
):
    inner = make_step(reduce_retracing=True)

    @tf.function(autograph=False)
    def train(iterator):
        return tf.while_loop(
            lambda n, _: n < 2, lambda n, _: (n + 1, inner(next(iterator))), (0, 0.0)
        )

    lengths = (4, 5, 5, 4, 4, 5, 5, 4, 4, 7, 5, 4)
    iterator = iter(batches(*lengths))
    seconds, _ = compiled_in(recording, [lambda: train(iterator)] * 6)
    assert [place for place, ns in enumerate(seconds) if ns > COMPILES_NS] == [4]


def test_a_function_without_an_iterator_can_still_be_saved(recording, xla_compilations, tmp_path):
    inner = make_step(reduce_retracing=True)
    module = tf.Module()
    module.predict = tf.function(
        lambda x: inner(x) + 1.0, input_signature=[tf.TensorSpec((None, 3))], autograph=False
    )
    module.predict(tf.ones((2, 3)))
    tf.saved_model.save(module, str(tmp_path))
    assert float(tf.saved_model.load(str(tmp_path)).predict(tf.zeros((2, 3)))) == 1.0
