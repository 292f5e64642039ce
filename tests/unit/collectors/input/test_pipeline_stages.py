"""The stages of real `tf.data` pipelines, as the program wrote them."""

import numpy as np
import pytest

from tb_slowdown_plugin.collectors.input.pipeline_stages import (
    describe_pipeline,
    functions_of,
)

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")


def test_stages_stand_from_the_source_to_the_end_with_the_largest_shuffle_buffer():
    data = tf.data.Dataset.from_tensor_slices(np.zeros(10)).shuffle(500).cache().shuffle(20)
    data = data.map(lambda x: x + 1).map(lambda x: x, num_parallel_calls=2).batch(3).prefetch(1)
    fact = describe_pipeline(data.with_options(tf.data.Options()))
    assert fact.name == "input_pipeline"
    assert fact.subject == "TensorSlice Shuffle Cache Shuffle Map ParallelMap Batch Prefetch"
    assert fact.numbers == {"shuffle_buffer": 500.0, "mapped_bytes": 80.0}


@pytest.mark.parametrize(
    ("data", "seen"),
    [
        (tf.data.Dataset.range(6).map(lambda x: (x, tf.zeros([4]))).batch(4), 6 * (8 + 16)),
        (tf.data.Dataset.range(6).batch(2, drop_remainder=True).map(lambda x: x), 48),
        (tf.data.Dataset.range(6).batch(4).map(lambda x: x), None),
        (tf.data.Dataset.range(6).map(lambda x: x).repeat(), 48),
        (tf.data.Dataset.range(6).repeat().map(lambda x: x), None),
        (tf.data.Dataset.range(6).map(tf.strings.as_string), None),
        (tf.data.Dataset.range(6).batch(2), None),
    ],
)
def test_what_a_pass_of_the_last_map_takes_is_known_where_shapes_are(data, seen):
    assert describe_pipeline(data).numbers.get("mapped_bytes") == seen


@pytest.mark.parametrize(
    ("elements", "first", "last", "full"),
    [
        (30, True, True, True),
        (30, False, True, False),
        (30, False, False, False),
        (32, False, False, True),
        (32, False, True, True),
    ],
)
def test_a_pipeline_of_full_batches_is_known(elements, first, last, full):
    data = tf.data.Dataset.range(elements).batch(4, drop_remainder=first)
    data = data.prefetch(1).batch(2, drop_remainder=last, num_parallel_calls=2)
    assert ("full_batches" in describe_pipeline(data).numbers) is full


def test_a_stage_that_calls_python_and_a_generator_are_known():
    data = tf.data.Dataset.range(3).map(
        lambda x: tf.py_function(lambda y: y, [x], tf.int64), num_parallel_calls=2
    )
    assert describe_pipeline(data).numbers == {"python": 1.0}
    spec = tf.TensorSpec([], tf.int64)
    generated = tf.data.Dataset.from_generator(lambda: iter([1]), output_signature=spec).batch(1)
    assert describe_pipeline(generated).numbers == {"generator": 1.0}


def test_what_keras_makes_of_arrays_is_known(monkeypatch):
    from keras.src.trainers.data_adapters.array_data_adapter import ArrayDataAdapter

    data = ArrayDataAdapter(np.zeros((8, 2)), np.zeros(8), batch_size=4, shuffle=True)
    assert describe_pipeline(data.get_tf_dataset()).numbers["arrays"] == 1.0


def double(x):
    return 2 * x


def in_python(x):
    return tf.py_function(lambda y: y, [x], tf.int64)


def elements():
    yield from (1, 2)


class Source:
    def __call__(self):
        return iter([1])


SPEC = tf.TensorSpec([], tf.int64)


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (lambda: tf.data.Dataset.range(3).map(double).batch(2), [("double", ())]),
        (
            lambda: tf.data.Dataset.range(3).map(double).map(in_python, num_parallel_calls=2),
            [("in_python", ("python",)), ("double", ())],
        ),
        (
            lambda: tf.data.Dataset.from_generator(elements, output_signature=SPEC).map(double),
            [("double", ()), ("elements", ("generator",))],
        ),
        (
            lambda: tf.data.Dataset.from_generator(Source(), output_signature=SPEC),
            [("__call__", ("generator",))],
        ),
        (lambda: tf.data.Dataset.range(3).filter(lambda x: x > 0), [("<lambda>", ())]),
        (
            lambda: tf.data.Dataset.range(3).map(double).shuffle(2).map(in_python).batch(2),
            [("in_python", ("python",)), ("double", ("buffered",))],
        ),
        (lambda: tf.data.Dataset.range(3).batch(2), []),
    ],
)
def test_the_users_functions_are_found(data, found):
    assert [(code.co_name, traits) for code, traits in functions_of(data())] == found
