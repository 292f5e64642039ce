"""Models loaded in the loop, and `clear_session` with what it costs afterwards."""

import inspect

import pytest
from unit.collectors.hooked import hooked_by

from tb_slowdown_plugin.collectors.keras.model_setup import ModelSetup
from tb_slowdown_plugin.collectors.keras.optimizers import Optimizers
from tb_slowdown_plugin.collectors.python.garbage import GarbageCollector

pytestmark = [
    pytest.mark.tensorflow,
    pytest.mark.filterwarnings("ignore:__array__ implementation"),
]
tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")

HERE = "tests/unit/collectors/keras/test_model_setup.py"


@pytest.fixture
def setup(traced, tracer):
    started = [Optimizers(), ModelSetup(tracer), GarbageCollector()]
    for collector in started:
        collector.start(traced.context)
    yield started[1]
    for collector in reversed(started):
        collector.stop()


@pytest.fixture
def saved(tmp_path):
    model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(4)])
    model.compile("adam", "mse")
    model.fit(tf.ones((4, 8)), tf.ones((4, 4)), verbose=0)
    path = str(tmp_path / "model.keras")
    model.save(path)
    return path


def test_a_model_that_is_loaded_is_one_account_with_its_line(traced, setup, saved):
    keras.models.load_model(saved)
    traced.stopwatch.take()
    line = inspect.currentframe().f_lineno + 1
    loaded = keras.models.load_model(saved)
    assert set(traced.stopwatch.take()) - {"gc"} == {f"call:load_model ({HERE}:{line})"}
    assert loaded.optimizer is not None
    (told,) = [each for each in traced.events if f":{line})" in getattr(each, "subject", "")]
    assert told.subject.startswith(f"call:load_model ({HERE}:{line})|load_model|")


def test_clear_session_costs_its_collection_and_the_kernels_made_again(traced, setup):
    @tf.function
    def work(x):
        for _ in range(200):
            x = tf.sin(x) + 1.0
        return x

    x = tf.ones([4])
    for _ in range(3):
        work(x)
    traced.stopwatch.take()
    line = inspect.currentframe().f_lineno + 1
    keras.backend.clear_session()
    account = f"clear_session:{HERE}:{line}"
    cleared = traced.stopwatch.take()
    assert set(cleared) - {"gc"} == {account}  # young collections come at any time
    work(x)
    again = traced.stopwatch.take()
    assert set(again) - {"gc"} == {account}
    assert again[account] > 0
    work(x)
    assert traced.stopwatch.take().get(account, 0) == 0
    (fact,) = [each for each in traced.events if getattr(each, "name", "") == "called"]
    assert fact.numbers["in:gc"] > 0


def test_graphs_are_looked_at_for_two_steps(traced, setup):
    @tf.function
    def work(x):
        return x + 1.0

    work(tf.ones([4]))
    keras.backend.clear_session()
    assert any("_call_flat" in place for place in hooked_by("model_setup"))
    traced.steps = 3
    work(tf.ones([4]))
    work(tf.ones([4]))
    assert not any("_call_flat" in place for place in hooked_by("model_setup"))
