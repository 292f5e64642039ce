"""Calls of `fit` inside of a step: their price, beside what the model computes."""

import inspect
import time

import numpy as np
import pytest
from unit.collectors.hooked import hooked_by

from tb_slowdown_plugin.collectors.keras.model_calls import Evaluations, FitCalls

pytestmark = [
    pytest.mark.tensorflow,
    pytest.mark.filterwarnings("ignore:__array__ implementation"),
]
tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")

HERE = "tests/unit/collectors/keras/test_model_calls_fit.py"
X, Y = np.zeros((4, 8), "float32"), np.zeros((4, 1), "float32")
COMPUTING = 0.050


@pytest.fixture
def collectors(recording, monkeypatch, root):
    monkeypatch.chdir(root)
    started = [Evaluations(), FitCalls()]
    for collector in started:
        collector.start(recording.context)
    yield started
    for collector in reversed(started):
        collector.stop()
    assert recording.failures == []


def make(*layers):
    made = keras.Sequential([keras.Input((8,)), *layers, keras.layers.Dense(1)])
    made.compile("sgd", "mse", jit_compile=False)
    made.fit(X, Y, verbose=0)
    return made


def test_a_call_costs_what_it_takes_beside_its_batches(recording, collectors):
    class Busy(keras.layers.Layer):
        def call(self, x):
            slept = tf.py_function(lambda: time.sleep(COMPUTING) or 0.0, [], tf.float32)
            return x + tf.ensure_shape(slept, [])

    model = make(Busy())
    recording.stopwatch.take()
    began = time.perf_counter()
    line = inspect.currentframe().f_lineno + 1
    model.fit(X, Y, batch_size=2, verbose=0)
    took = time.perf_counter() - began
    taken = {name: ns / 1e9 for name, ns in recording.stopwatch.take().items()}
    assert list(taken) == [f"call:fit ({HERE}:{line})"]
    assert 0 < taken[f"call:fit ({HERE}:{line})"] <= took - 2 * COMPUTING
    numbers = recording.events[-1].numbers
    assert (numbers["calls"], numbers["batches"]) == (1, 2)
    assert numbers["in:computing"] >= 2 * COMPUTING


def test_its_validation_is_computing(recording, collectors):
    model = make()
    model.fit(X, Y, validation_data=(X, Y), verbose=0)
    recording.stopwatch.take()
    model.fit(X, Y, validation_data=(X, Y), verbose=0)
    assert not any("validation" in name for name in recording.stopwatch.take())
    assert recording.stopwatch.depth == 0


def test_a_fit_that_is_the_training_owns_only_what_comes_before_it(recording, collectors):
    model, watch = make(), recording.stopwatch
    watch.take()

    class Training(keras.callbacks.Callback):
        def on_train_begin(self, logs=None):
            watch.disown()
            watch.open("phase:fit")

        def on_train_end(self, logs=None):
            watch.close()
            self.hooked = [place for place in hooked_by("fit_calls") if "batch" in place]

    training = Training()
    model.fit(X, Y, epochs=3, verbose=0, callbacks=[training])
    accounts = {name.partition(":")[0] for name in watch.take()}
    assert accounts == {"call", "phase"}
    assert training.hooked == [], "a step of a training costs nothing"
    assert watch.depth == 0


def test_stop_puts_kerass_methods_back(recording):
    collector = FitCalls()
    collector.start(recording.context)
    assert len(hooked_by("fit_calls")) == 1
    collector.stop()
    assert hooked_by("fit_calls") == []
