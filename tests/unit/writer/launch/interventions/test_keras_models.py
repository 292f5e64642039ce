"""Keras without callbacks, in 16 bits, and with several batches in one execution."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("tensorflow")

import tensorflow as tf

from tb_slowdown_plugin.collectors.base import Unavailable
from tb_slowdown_plugin.writer.launch.interventions.base import Intervention
from tb_slowdown_plugin.writer.launch.interventions.keras_models import (
    MixedPrecision,
    NoCallbacks,
    StepsPerExecution,
)

pytestmark = pytest.mark.tensorflow
Install = Callable[[type[Intervention]], Intervention]


@pytest.fixture(autouse=True)
def policy() -> Iterator[None]:
    """That of Keras is as it was, after a test."""
    before = tf.keras.mixed_precision.global_policy()
    yield
    tf.keras.mixed_precision.set_global_policy(before)


def fit(**more: Any) -> Any:
    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse", **more.pop("compiled", {}))
    return model, model.fit(tf.zeros((100, 2)), tf.zeros((100, 1)), batch_size=4, verbose=0, **more)


def test_callbacks_are_not_called_and_the_history_stays(install: Install) -> None:
    called: list[int] = []
    callback = tf.keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, _: called.append(epoch))
    intervention = install(NoCallbacks)
    _, history = fit(callbacks=[callback, tf.keras.callbacks.TerminateOnNaN()], epochs=2)
    assert called == []
    assert len(history.history["loss"]) == 2
    assert intervention.applied == 2


def test_a_fit_without_callbacks_is_not_changed(install: Install) -> None:
    intervention = install(NoCallbacks)
    fit()
    assert intervention.applied == 0


def test_layers_compute_in_16_bits_and_keep_variables_of_32(install: Install) -> None:
    intervention = install(MixedPrecision)
    model, _ = fit()
    layer = model.layers[-1]
    assert layer.compute_dtype in ("bfloat16", "float16")
    assert layer.variable_dtype == "float32"
    assert intervention.applied >= 1
    with pytest.raises(Unavailable, match="uses mixed precision already"):
        MixedPrecision(200).install()


def test_several_batches_make_an_execution(install: Install) -> None:
    intervention = install(StepsPerExecution)
    model, _ = fit()
    assert model.steps_per_execution == 10
    assert intervention.applied == 1
    model, _ = fit(compiled={"steps_per_execution": 3})
    assert model.steps_per_execution == 3
    assert intervention.applied == 1


@pytest.mark.parametrize(("items", "batches"), [(None, 10.0), (4, 4.0), (10, 10.0)])
def test_the_last_execution_may_have_fewer_batches(items: int | None, batches: float) -> None:
    assert StepsPerExecution(200).batches_in(SimpleNamespace(items=items)) == batches
