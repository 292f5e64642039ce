"""A call that runs a model on the batch that was just learned from is told with its line."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.collectors.keras.repeated_passes import (
    RepeatedPasses,
    describe_function,
)
from tb_slowdown_plugin.records.types import Fact

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")

ROWS, UNITS, STEPS = 4, 8, 6
HERE = "test_repeated_passes.py"


@pytest.fixture
def collector(traced, tracer):
    made = RepeatedPasses(tracer)
    made.start(traced.context)
    yield made
    made.stop()


class Training:
    """A network, and another one that nobody trains."""

    def __init__(self):
        self.model = keras.Sequential([keras.Input((UNITS,)), keras.layers.Dense(1)])
        self.other = keras.Sequential([keras.Input((UNITS,)), keras.layers.Dense(1)])
        self.optimizer = keras.optimizers.SGD(0.01)
        self.optimizer.build(self.model.trainable_variables)

    @tf.function
    def train(self, x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(self.model(x) ** 2)
        gradients = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables, strict=True))
        return loss

    @tf.function
    def score(self, x):
        return tf.reduce_mean(self.model(x))

    @tf.function
    def score_other(self, x):
        return tf.reduce_mean(self.other(x))


def scored(training, x):
    return training.score(x)


def called(training, x):
    return training.model(x)


def called_by_name(training, x):
    return training.model(inputs=x)


def of_an_equal_batch(training, x):
    return training.score(tf.identity(x)), training.model(tf.identity(x))


def with_other_weights(training, x):
    return training.score_other(x), training.other(x)


def nothing(training, x):
    return None


def told(recording):
    return [fact for fact in recording.of(Fact) if fact.name == "repeated_pass"]


def run(recording, report, *, batch=tf.ones, before=False):
    training = Training()
    for recording.steps in range(STEPS):
        x = batch((ROWS, UNITS))
        if before:
            report(training, x)
        training.train(x)
        if not before:
            report(training, x)


@pytest.mark.parametrize("report", [scored, called, called_by_name])
@pytest.mark.parametrize("batch", [tf.ones, lambda shape: np.ones(shape, np.float32)])
def test_a_pass_on_the_batch_of_the_step_is_told_at_its_line(traced, collector, report, batch):
    run(traced, report, batch=batch)
    (fact,) = told(traced)
    line = report.__code__.co_firstlineno + 1
    assert fact.subject == f"{report.__name__} (tests/unit/collectors/keras/{HERE}:{line})"
    trains = run.__code__.co_firstlineno + 6
    assert fact.numbers == {"called": 1, "after": trains, "since": 2}


def test_a_layer_that_a_model_of_the_program_gives_the_batch_is_part_of_its_pass(traced, collector):
    class Nested(keras.Model):
        def __init__(self, inside):
            super().__init__()
            self.inside = inside

        def call(self, x):
            return self.inside(x)

    training = Training()
    nested = Nested(training.model)
    for _ in range(STEPS):
        x = tf.ones((ROWS, UNITS))
        training.train(x)
        nested(x)
    (fact,) = told(traced)
    assert fact.subject.startswith("test_a_layer_that_a_model_of_the_program_gives")


@pytest.mark.parametrize("report", [of_an_equal_batch, with_other_weights, nothing])
def test_another_batch_or_another_model_is_no_repeat(traced, collector, report):
    run(traced, report)
    assert told(traced) == []


@pytest.mark.parametrize("report", [scored, called])
def test_what_is_computed_before_may_be_what_the_step_learns_from(traced, collector, report):
    run(traced, report, before=True)
    assert told(traced) == []


def test_two_functions_that_train_the_same_weights_repeat_nothing(traced, collector):
    training, twin = Training(), Training()
    twin.model, twin.optimizer = training.model, training.optimizer
    for _ in range(STEPS):
        x = tf.ones((ROWS, UNITS))
        training.train(x)
        twin.train(x)
    assert told(traced) == []


def test_nothing_is_seen_any_more_once_it_is_stopped(traced, tracer):
    made = RepeatedPasses(tracer)
    made.start(traced.context)
    made.stop()
    run(traced, scored)
    run(traced, called)
    assert told(traced) == []


def test_the_batch_is_not_kept_alive(traced, collector):
    training = Training()
    x = tf.ones((ROWS, UNITS))
    training.train(x)
    batch = collector._passes.batch
    assert batch() is x
    del x
    assert batch() is None


def test_a_function_trains_where_it_changes_weights_of_its_products():
    training = Training()
    x = tf.TensorSpec((ROWS, UNITS))
    train, score, other = (
        describe_function(each.get_concrete_function(x).graph)
        for each in (training.train, training.score, training.score_other)
    )
    assert (train.trains, score.trains, other.trains) == (True, False, False)
    assert score.weights == train.weights
    assert not score.weights & other.weights
