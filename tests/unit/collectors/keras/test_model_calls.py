"""Calls of `predict` of a real Keras model."""

import inspect
import sys
import time

import numpy as np
import pytest

from tb_slowdown_plugin.collectors.base import Unavailable
from tb_slowdown_plugin.collectors.input.wait import InputWait
from tb_slowdown_plugin.collectors.keras.callbacks import SiblingTimer
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


def test_a_call_with_many_batches_is_booked_as_one_with_few(recording, collectors, model):
    _, accounts = booked(
        recording, lambda: model.predict(np.ones((40, 8)), batch_size=4, verbose=0)
    )
    assert {name.partition(":")[0] for name in accounts} <= {"predict", "gc"}


def test_the_line_of_a_call_its_batches_and_its_parts_are_told(recording, collectors, model):
    for _ in range(3):
        line = inspect.currentframe().f_lineno + 1
        model.predict(np.ones((8, 8)), batch_size=4, verbose=0)
    here = f"tests/unit/collectors/keras/test_model_calls.py:{line}"
    facts = [fact for fact in recording.events if getattr(fact, "name", "") == "called"]
    assert [fact.numbers["calls"] for fact in facts] == [1, 2]  # and the 4th, 8th ...
    account, call, place = facts[-1].subject.split("|")
    assert (account, call) == (f"predict:{here}", "predict")
    assert place.endswith(f"are_told ({here})")
    numbers = facts[-1].numbers
    assert numbers["batches"] == 4
    parts = sum(numbers[f"in:{part}"] for part in ("tracing", "input_wait", "computing"))
    assert 0 < parts < numbers["seconds"]


def test_all_that_a_call_takes_in_a_callback_is_the_callbacks(recording, collectors, model):
    class Plotter(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            began = time.perf_counter()
            model.predict(np.ones((4, 8)), verbose=0)
            self.took = time.perf_counter() - began

    plotter = Plotter()
    timed = SiblingTimer(recording.stopwatch, [plotter], keras.callbacks.Callback)
    around = timed.around("on_epoch_end")
    callbacks = keras.callbacks.CallbackList([plotter])

    def call():
        begun = around.begin(callbacks)
        callbacks.on_epoch_end(0)
        around.end(begun, None)

    call()  # what is traced for the first time is warm-up
    _, accounts = booked(recording, call)
    accounts.pop("gc", None)
    assert list(accounts) == ["callback:Plotter"]
    assert accounts["callback:Plotter"] == pytest.approx(plotter.took, rel=0.2)
    (fact, *_) = [fact for fact in recording.events if getattr(fact, "name", "") == "called"]
    assert fact.subject.startswith("callback:Plotter|predict|")
    assert recording.stopwatch.owners == []


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
