"""Calls of `evaluate` in a loop of one's own are validation."""

import threading

import numpy as np
import pytest
from unit.collectors.hooked import hooked_by

from tb_slowdown_plugin.collectors.base import Unavailable
from tb_slowdown_plugin.collectors.keras.model_calls import (
    Evaluations,
)

pytestmark = [
    pytest.mark.tensorflow,
    # Keras converts tensors to numpy by the protocol of numpy 1.
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
]
tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")

X, Y = np.zeros((8, 2), "float32"), np.zeros((8, 1), "float32")


@pytest.fixture
def model():
    made = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    made.compile("sgd", "mse")
    made.evaluate(X, Y, verbose=0)  # the first one traces
    return made


@pytest.fixture
def collector(recording, model):
    made = Evaluations()
    made.start(recording.context)
    yield made
    made.stop()


@pytest.mark.usefixtures("collector")
def test_a_call_between_steps_is_validation_and_gives_what_it_gave(recording, model):
    expected = model.evaluate(X, Y, verbose=0, return_dict=True)
    booked = recording.stopwatch.take()
    (call,) = booked.keys() - {"validation", "gc"}
    # what it computes is validation; making a dataset of the arrays is the price of the call
    assert call.startswith("call:evaluate (tests/unit/collectors/keras/test_model_calls_evaluate.")
    assert booked["validation"] > 0 < booked[call]
    assert expected == {"loss": 0.0}


@pytest.mark.usefixtures("collector")
def test_a_call_in_a_callback_is_taken_out_of_the_callbacks_time(recording, model):
    recording.stopwatch.open("callback:Score")
    model.evaluate(X, Y, verbose=0)
    recording.stopwatch.close()
    booked = recording.stopwatch.take()
    in_call = sum(booked.values()) - booked["callback:Score"]
    assert in_call > booked["callback:Score"]


@pytest.mark.usefixtures("collector")
def test_the_validation_of_fit_is_told_by_its_callbacks(recording, model):
    model.fit(X, Y, validation_data=(X, Y), verbose=0)
    assert "validation" not in recording.stopwatch.take()


@pytest.mark.usefixtures("collector")
def test_another_threads_call_is_not_booked(recording, model):
    thread = threading.Thread(target=lambda: model.evaluate(X, Y, verbose=0))
    thread.start()
    thread.join()
    assert recording.stopwatch.take() == {}


@pytest.mark.usefixtures("collector")
def test_an_exception_passes_and_leaves_nothing_open(recording, model):
    with pytest.raises(tf.errors.InvalidArgumentError):
        model.evaluate(np.zeros((8, 5)), Y, verbose=0)
    assert recording.stopwatch.opened == []


def test_stop_puts_kerass_method_back(recording):
    collector = Evaluations()
    collector.start(recording.context)
    assert len(hooked_by("evaluations")) == 3
    collector.stop()
    assert hooked_by("evaluations") == []


def test_without_keras_it_is_unavailable(recording, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "keras", None)
    with pytest.raises(Unavailable, match="Keras was not imported"):
        Evaluations().start(recording.context)
