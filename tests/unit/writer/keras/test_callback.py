"""The callback finds or starts its monitor, and a copy of it watches a training of its own."""

from __future__ import annotations

import copy
import pickle
import weakref

import pytest

keras = pytest.importorskip("keras")
np = pytest.importorskip("numpy")

from tb_slowdown_plugin.records.types import Failure  # noqa: E402
from tb_slowdown_plugin.writer import monitor  # noqa: E402
from tb_slowdown_plugin.writer.keras import callback as module  # noqa: E402
from tb_slowdown_plugin.writer.keras.callback import SlowdownCallback  # noqa: E402


@pytest.fixture(autouse=True)
def _no_monitor():
    yield
    if (active := monitor.active()) is not None:
        active.stop()


@pytest.fixture(scope="module")
def model():
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse", run_eagerly=True)
    return model


def pickled(callback):
    return pickle.loads(pickle.dumps(callback))


def fit(model, *callbacks, epochs=1):
    x, y = np.zeros((8, 2)), np.zeros((8, 1))
    model.fit(x, y, batch_size=4, epochs=epochs, verbose=0, callbacks=list(callbacks))


def test_each_batch_is_a_step_and_the_next_fit_goes_on(model, tmp_path):
    callback = SlowdownCallback(tmp_path)
    assert callback.monitor is None
    fit(model, callback)
    first = callback.monitor
    assert first is not None
    assert first.recorder.rows == 2
    assert not module.is_fitting()
    another = SlowdownCallback(tmp_path)
    fit(model, another, epochs=2)
    assert another.monitor is first
    assert first.recorder.rows == 6


def test_another_logdir_is_another_run(model, tmp_path):
    one, other = SlowdownCallback(tmp_path / "a"), SlowdownCallback(tmp_path / "b")
    fit(model, one)
    fit(model, other)
    assert one.monitor is not None
    assert one.monitor.stopped
    assert other.monitor is monitor.active()


def test_a_monitor_of_the_program_is_used_and_left_on(model, tmp_path):
    started = monitor.start(tmp_path / "mine")
    callback = SlowdownCallback(tmp_path / "not-used")
    fit(model, callback)
    assert callback.monitor is started
    assert not started.stopped
    assert not (tmp_path / "not-used").exists()


def test_a_fit_that_raised_is_closed_when_somebody_asks(model, tmp_path):
    class Raises(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            assert module.is_fitting()
            raise KeyError("mine")

    callback = SlowdownCallback(tmp_path)
    with pytest.raises(KeyError, match="mine"):
        fit(model, callback, Raises())
    assert not module.is_fitting()
    assert callback.monitor is not None
    assert not callback.monitor.recorder.in_step


def test_to_ask_keeps_nothing_of_the_program(model, tmp_path):
    class Data:
        pass

    class Raises(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            raise KeyError

    with pytest.raises(KeyError):
        fit(model, SlowdownCallback(tmp_path), Raises())
    data = Data()
    kept = weakref.ref(data)
    assert not module.is_fitting()
    del data
    assert kept() is None


def test_called_by_no_list_of_keras_it_says_so(tmp_path, caplog):
    callback = SlowdownCallback(tmp_path)
    callback.on_train_begin()
    assert callback.monitor is not None
    (failure,) = [e.what for e in callback.monitor.recorder.events if isinstance(e.what, Failure)]
    assert "CallbackList" in failure.reason
    assert "training goes on" in caplog.text


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickled])
def test_a_copy_has_the_options_and_no_monitor(model, tmp_path, copied):
    callback = SlowdownCallback(tmp_path, disable=["gc"])
    fit(model, callback)
    twin = copied(callback)
    assert twin.monitor is None
    assert (twin._logdir, twin._options) == (callback._logdir, callback._options)
