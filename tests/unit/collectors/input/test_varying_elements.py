"""Stages of real `tf.data` pipelines that never end, or give other elements in each pass."""

import itertools
import random

import numpy as np
import pytest

from tb_slowdown_plugin.collectors.input.pipeline_stages import describe_pipeline, functions_of

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

SPEC = tf.TensorSpec([], tf.int64)
Dataset = tf.data.Dataset
NOISE = np.random.default_rng(0)


def finite():
    for each in range(5):
        yield each * len("no end")


def drawn():
    while True:
        yield NOISE.random()


def going_round():
    yield from itertools.cycle([1, 2])


def around(number):
    def inner():
        while True:
            yield number

    return inner


class Replay:
    """A buffer that examples are drawn of."""

    def __init__(self):
        self.chance = np.random.default_rng(0)

    def draw(self):
        return self.chance.integers(3)

    def __call__(self):
        while True:
            yield self.draw()

    def some(self):
        for _ in range(3):
            yield self.jitter(1)

    def jitter(self, value):
        return value + random.random()


@pytest.mark.parametrize(
    ("generator", "varying"),
    [
        (finite, set()),
        (lambda: finite(), set()),
        (drawn, {"random", "endless"}),
        (lambda: drawn(), {"random", "endless"}),
        (going_round, {"endless"}),
        (around(3), {"endless"}),
        (Replay(), {"random", "endless"}),
        (Replay().some, {"random"}),
    ],
)
def test_a_generator_is_judged_by_its_code(generator, varying):
    data = Dataset.from_generator(generator, output_signature=SPEC).shuffle(4).batch(2)
    numbers = describe_pipeline(data).numbers
    assert numbers["generator"] == 1.0
    assert {name: numbers[name] for name in varying} == dict.fromkeys(varying, 1.0)
    assert varying == {"random", "endless"} & set(numbers)


def images(number=4):
    return Dataset.from_tensor_slices(np.zeros((number, 8, 8, 3), np.float32))


def in_a_branch(x):
    return tf.cond(x > 0, lambda: x + tf.random.uniform([], 0, 3, tf.int64), lambda: x)


def with_noise(y):
    return y + NOISE.random()


def in_python(x):
    return tf.py_function(with_noise, [x], tf.int64)


@pytest.mark.parametrize(
    ("data", "numbers"),
    [
        (
            images().map(lambda x: x / 2).map(tf.image.random_flip_left_right).batch(2),
            {"random": 2.0},
        ),
        (Dataset.range(5).map(in_a_branch).repeat(), {"random": 1.0, "endless": 2.0}),
        (Dataset.range(3).map(in_python), {"random": 1.0}),
        (Dataset.range(3).map(lambda x: x).take(-1).repeat(2), {}),
        (Dataset.range(3).repeat().map(lambda x: x), {"endless": 1.0}),
        (Dataset.random(), {"random": 0.0, "endless": 0.0}),
        (Dataset.zip((Dataset.range(3).repeat(), Dataset.range(3))).batch(2), {}),
    ],
)
def test_the_first_stage_that_varies_has_its_place(data, numbers):
    found = describe_pipeline(data).numbers
    assert {name: found[name] for name in ("random", "endless") if name in found} == numbers


def test_a_stage_that_is_autotuned_is_known():
    assert "autotuned" in describe_pipeline(Dataset.range(3).prefetch(tf.data.AUTOTUNE)).numbers
    assert "autotuned" not in describe_pipeline(Dataset.range(3).prefetch(2)).numbers


def test_functions_that_a_library_makes_are_not_the_programs():
    keras = pytest.importorskip("keras")
    data = keras.utils.timeseries_dataset_from_array(np.zeros((50, 2)), None, 5, batch_size=4)
    made = describe_pipeline(data.map(lambda x: x))
    assert made.subject == "Tensor Repeat Zip ParallelMap Prefetch Batch Map"
    assert made.numbers["library"] == 1 << 3
    assert "endless" not in made.numbers
    assert "library" not in describe_pipeline(images().map(tf.image.rgb_to_grayscale)).numbers


def test_a_generator_that_keras_fits_on_is_the_programs():
    from keras.src.trainers.data_adapters.generator_data_adapter import GeneratorDataAdapter

    def batches():
        while True:
            yield NOISE.random((2, 3)), np.zeros((2, 1))

    data = GeneratorDataAdapter(batches()).get_tf_dataset()
    numbers = describe_pipeline(data).numbers
    assert numbers.items() >= {"fitted": 1.0, "random": 1.0, "endless": 1.0}.items()
    assert [(code.co_name, calls) for code, calls in functions_of(data)] == [
        ("batches", ("generator",))
    ]
