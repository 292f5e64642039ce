"""Calls of `predict` of a real Keras model."""

import inspect
import sys
import time

import numpy as np
import pytest

from tb_slowdown_plugin.collectors.base import Unavailable
from tb_slowdown_plugin.collectors.input.wait import InputWait
from tb_slowdown_plugin.collectors.keras.model_calls import PredictCalls

pytestmark = [
    pytest.mark.tensorflow,
    # Keras, with NumPy 2.
    pytest.mark.filterwarnings("ignore:__array__ implementation"),
]
tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")

COMPUTING = 0.050


@pytest.fixture
def collectors(recording, tracer, monkeypatch, root):
    started = [tracer, InputWait(), PredictCalls()]
    for collector in started:
        collector.start(recording.context)
    yield started
    for collector in reversed(started[1:]):
        collector.stop()
    assert recording.failures == []


@pytest.fixture(scope="module")
def model():
    made = keras.Sequential([keras.Input((8,)), keras.layers.Dense(4)])
    made.compile("sgd", "mse")
    made.predict(np.zeros((4, 8)), verbose=0)
    return made


def booked(recording, call):
    """What a call returns, and the seconds of each account that it has booked."""
    recording.stopwatch.take()
    answer = call()
    taken = recording.stopwatch.take()
    return answer, {name: ns / 1e9 for name, ns in taken.items() if ns}


def test_all_that_a_call_takes_is_booked_to_its_line(recording, collectors, model):
    x = np.ones((4, 8), np.float32)
    began = time.perf_counter()
    line = inspect.currentframe().f_lineno + 1
    answer, accounts = booked(recording, lambda: model.predict(x, verbose=0))
    took = time.perf_counter() - began
    accounts.pop("gc", None)
    (account,) = accounts
    assert account == f"predict:tests/unit/collectors/keras/test_model_calls.py:{line}"
    assert 0.5 * took < accounts[account] <= took
    np.testing.assert_allclose(answer, model(x), rtol=1e-5)
    assert recording.stopwatch.depth == 0


def test_what_the_model_computes_is_not_the_price_of_the_call(recording, collectors):
    class Busy(keras.layers.Layer):
        def call(self, x):
            slept = tf.py_function(lambda: time.sleep(COMPUTING) or 0.0, [], tf.float32)
            return x + tf.ensure_shape(slept, [])

    model = keras.Sequential([keras.Input((8,)), Busy()])
    model.compile("sgd", "mse", jit_compile=False)
    x = np.ones((2, 8), np.float32)
    model.predict(x, verbose=0)
    began = time.perf_counter()
    _, accounts = booked(recording, lambda: model.predict(x, verbose=0))
    took = time.perf_counter() - began
    assert sum(accounts.values()) <= took - COMPUTING


def test_a_call_with_many_batches_is_no_price_but_its_beginning(recording, collectors, model):
    _, accounts = booked(
        recording, lambda: model.predict(np.ones((40, 8)), batch_size=4, verbose=0)
    )
    assert accounts["input_wait"] > 0
    assert accounts["tracing:library"] > 0


def test_a_dataset_of_the_users_is_waited_for_as_anywhere(recording, collectors, model):
    batches = tf.data.Dataset.from_tensors(np.ones((4, 8), np.float32))
    _, accounts = booked(recording, lambda: model.predict(batches, verbose=0))
    assert "input_wait" in accounts
    assert not any(name.startswith("predict") for name in accounts)


def test_validation_stays_validation(recording, collectors, model):
    def validate():
        recording.stopwatch.open("validation")
        model.predict(np.ones((4, 8)), verbose=0)
        recording.stopwatch.close()

    _, accounts = booked(recording, validate)
    assert "validation" in accounts
    assert not any(name.startswith("predict") for name in accounts)


def test_other_threads_are_not_booked(recording, collectors, model):
    recording.stopwatch.thread = -1
    _, accounts = booked(recording, lambda: model.predict(np.ones((4, 8)), verbose=0))
    assert accounts == {}


def test_an_exception_passes_and_leaves_nothing_open(recording, collectors, model):
    before = model.predict_function
    with pytest.raises(tf.errors.InvalidArgumentError, match="size-incompatible"):
        model.predict(np.ones((4, 7)), verbose=0)
    assert recording.stopwatch.depth == 0
    assert model.predict_function is before


def test_without_keras_it_is_unavailable(recording, monkeypatch):
    monkeypatch.delitem(sys.modules, "keras")
    with pytest.raises(Unavailable, match="Keras was not imported"):
        PredictCalls().start(recording.context)
