"""`tf.function`s get tensors, generalize, or are compiled, and give what they gave."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("tensorflow")

import tensorflow as tf

from tb_slowdown_plugin.writer.launch.interventions.base import Intervention
from tb_slowdown_plugin.writer.launch.interventions.functions import (
    ReduceRetracing,
    TensorArguments,
    Xla,
)

pytestmark = pytest.mark.tensorflow
Install = Callable[[type[Intervention]], Intervention]


def test_numbers_become_tensors_and_one_graph_serves_all(install: Install) -> None:
    @tf.function
    def scale(x: Any, rate: Any, *, shift: Any = 0) -> Any:
        return x * rate + tf.cast(shift, tf.float32)

    intervention = install(TensorArguments)
    one = tf.constant(1.0)
    found = [float(scale(one, 0.5 * n, shift=n)) for n in range(6)]
    assert found == [1.5 * n for n in range(6)]
    assert scale.experimental_get_tracing_count() == 1
    assert intervention.applied == 6


def test_a_function_that_needs_the_number_gets_it(install: Install) -> None:
    @tf.function
    def repeat(x: Any, times: int) -> Any:
        for _ in list(range(times)):
            x = x + 1.0
        return x

    intervention = install(TensorArguments)
    assert [float(repeat(tf.constant(0.0), n)) for n in (1, 2, 3)] == [1.0, 2.0, 3.0]
    assert intervention.applied == 0


def test_flags_and_names_are_left_as_they_are(install: Install) -> None:
    @tf.function
    def choose(x: Any, training: bool, name: str) -> Any:
        return x + 1.0 if training and name == "a" else x

    intervention = install(TensorArguments)
    assert float(choose(tf.constant(1.0), True, "a")) == 2.0
    assert float(choose(tf.constant(1.0), False, "a")) == 1.0
    assert intervention.applied == 0


def test_shapes_are_generalized(install: Install) -> None:
    intervention = install(ReduceRetracing)

    @tf.function
    def total(x: Any) -> Any:
        return tf.reduce_sum(x)

    assert [float(total(tf.ones(n))) for n in range(1, 9)] == [float(n) for n in range(1, 9)]
    assert total.experimental_get_tracing_count() == 2
    assert intervention.applied == 1


def test_a_function_that_declares_its_input_is_left_alone(install: Install) -> None:
    intervention = install(ReduceRetracing)

    @tf.function(input_signature=[tf.TensorSpec([None])])
    def total(x: Any) -> Any:
        return tf.reduce_sum(x)

    assert float(total(tf.ones(3))) == 3.0
    assert intervention.applied == 0


def test_the_programs_functions_are_compiled(install: Install) -> None:
    intervention = install(Xla)

    @tf.function
    def double(x: Any) -> Any:
        return 2.0 * x

    @tf.function(jit_compile=False)
    def triple(x: Any) -> Any:
        return 3.0 * x

    assert float(double(tf.constant(1.0))) == 2.0
    assert float(triple(tf.constant(1.0))) == 3.0
    assert double._jit_compile is True
    assert triple._jit_compile is False
    assert intervention.applied == 1


def test_keras_models_are_compiled(install: Install) -> None:
    intervention = install(Xla)
    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    assert model.jit_compile is True
    assert intervention.applied >= 1
