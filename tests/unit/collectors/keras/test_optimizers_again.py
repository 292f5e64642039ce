"""Optimizers that are made again, with a real TensorFlow and Keras."""

import gc
import sys

import pytest
from unit.collectors.hooked import hooked_by

from tb_slowdown_plugin.collectors.base import Unavailable
from tb_slowdown_plugin.collectors.keras.optimizers import Optimizers
from tb_slowdown_plugin.collectors.saving.checkpoints import Checkpoints
from tb_slowdown_plugin.records.types import Fact

pytestmark = [
    pytest.mark.tensorflow,
    # Keras, with NumPy 2, when it reads a variable to save it.
    pytest.mark.filterwarnings("ignore:__array__ implementation"),
]
tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")


@pytest.fixture
def checkpoints(recording):
    collector = Checkpoints()
    collector.start(recording.context)
    yield collector
    collector.stop()


def saves(recording):
    lines = ("checkpoint_from", "optimizer_at")
    return [fact for fact in recording.of(Fact) if fact.name not in lines]


def facts(recording):
    return [(fact.name, fact.subject) for fact in saves(recording)]


def model():
    made = keras.Sequential([keras.Input((8,)), keras.layers.Dense(64)])
    made.compile("adam", "mse")
    return made


@pytest.fixture
def optimizers(recording):
    collector = Optimizers()
    collector.start(recording.context)
    yield collector
    collector.stop()


def train(made):
    variable = tf.Variable(tf.zeros([100]))
    made.apply_gradients([(tf.ones([100]), variable)])
    return variable


def test_an_optimizer_made_again_at_the_same_line_costs_seconds(recording, optimizers):
    for _ in range(3):
        train(keras.optimizers.Adam())
    booked = recording.stopwatch.take()
    made = saves(recording)
    assert list(booked) == ["optimizer_creation"]
    # The second and the third: made and built.
    assert facts(recording) == [("optimizer_created", "Adam")] * 4
    total = sum(fact.numbers["seconds"] for fact in made)
    assert booked["optimizer_creation"] / 1e9 == pytest.approx(total, rel=0.2)


def test_an_optimizer_that_keras_makes_to_look_at_is_none(recording, optimizers):
    """`load_weights` makes one of the base class, from the user's line."""
    for _ in range(3):
        keras.optimizers.Optimizer(1.0)
    assert dict(recording.stopwatch.take()) == {}
    assert recording.of(Fact) == []


def test_optimizers_made_by_a_save_belong_to_the_save(recording, optimizers):
    watch = recording.stopwatch
    for _ in range(4):
        watch.open("checkpoint:ModelCheckpoint")
        train(keras.optimizers.Adam())
        watch.close()
    assert list(watch.take()) == ["checkpoint:ModelCheckpoint"]
    assert facts(recording) == []


def test_two_optimizers_of_one_model_are_not_made_again(recording, optimizers):
    train(keras.optimizers.Adam())
    train(keras.optimizers.Adam())
    assert recording.stopwatch.take() == {}
    assert facts(recording) == []


def test_before_training_any_number_may_be_made(recording, optimizers):
    recording.stopwatch.thread = 0
    made = [keras.optimizers.Adam() for _ in range(3)]
    recording.stopwatch.claim()
    for each in made:
        train(each)
    assert recording.stopwatch.take() == {}


def test_compile_in_a_loop_is_seen(recording, optimizers):
    trained = model()
    for _ in range(3):
        trained.compile("sgd", "mse")
    assert facts(recording) == [("optimizer_created", "SGD")] * 2


def test_compiling_a_model_that_trains_goes_where_its_new_trace_goes(recording, optimizers):
    trained = model()
    trained.compile("sgd", "mse")
    assert recording.stopwatch.take() == {}, "it has not trained yet: nothing is thrown away"
    trained.fit(tf.ones((4, 8)), tf.ones((4, 64)), verbose=0)
    recording.stopwatch.take()
    trained.compile(keras.optimizers.SGD(), "mse")
    assert 0 < recording.stopwatch.take()["tracing:again"] < 10e9
    trained.compile(keras.optimizers.SGD(), "mse")
    assert recording.stopwatch.take() == {}, "nor since"


def test_an_error_of_compile_passes_and_closes_the_account(recording, optimizers):
    trained = model()
    trained.fit(tf.ones((4, 8)), tf.ones((4, 64)), verbose=0)
    with pytest.raises(ValueError, match="no such optimizer"):
        trained.compile("no such optimizer")
    assert recording.stopwatch.depth == 0


def test_the_state_of_all_living_optimizers_is_sampled(optimizers):
    made = keras.optimizers.Adam()
    unbuilt = optimizers.read()["optimizer_variables"]
    train(made)
    built = optimizers.read()
    # Two slots of 100 float32 each.
    assert built["optimizer_variables"] - unbuilt >= 2
    assert built["optimizer_bytes"] >= 800
    del made
    gc.collect()
    assert optimizers.read() == {}


def test_keras_classes_are_put_back(recording):
    collector = Optimizers()
    collector.start(recording.context)
    keras.optimizers.Adam()
    assert "keras.src.optimizers.adam.Adam.build" in hooked_by("optimizers")
    collector.stop()
    assert hooked_by("optimizers") == []


def test_without_keras_there_is_a_reason(recording, monkeypatch):
    monkeypatch.delitem(sys.modules, "keras")
    with pytest.raises(Unavailable, match="Keras was not imported"):
        Optimizers().start(recording.context)
