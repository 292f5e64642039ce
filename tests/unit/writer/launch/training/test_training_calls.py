"""Calls that train are seen from outside of any graph, the outermost only."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import numpy as np
import pytest

pytest.importorskip("tensorflow")

import tensorflow as tf

from tb_slowdown_plugin.writer.launch.training.step_cycle import StepCycle
from tb_slowdown_plugin.writer.launch.training.training_calls import TrainingCalls
from tb_slowdown_plugin.writer.steps.recorder import Recorder

pytestmark = pytest.mark.tensorflow


class Watched:
    """A recorder that is told of calls that train."""

    def __init__(self, only: str = "") -> None:
        self.recorder = Recorder()
        self.rules: list[list[str]] = []
        self._cycle = StepCycle(
            self.recorder, lambda turn, _: self.rules.append([each.kind for each in turn])
        )
        self.calls = TrainingCalls(self.recorder, self._cycle, only, self._fail)
        self.calls.install()

    def end(self) -> int:
        """The steps."""
        self.calls.remove()
        self._cycle.close()
        return self.recorder.rows

    def _fail(self, error: Exception) -> None:
        raise error


@pytest.fixture
def watch() -> Iterator[Callable[..., Watched]]:
    made: list[Watched] = []

    def make(only: str = "") -> Watched:
        made.append(Watched(only))
        return made[-1]

    yield make
    for each in made:
        each.calls.remove()


@pytest.fixture
def weight() -> tf.Variable:
    return tf.Variable(1.0)


def test_a_function_that_assigns_makes_steps_and_one_that_computes_none(
    watch: Callable[..., Watched], weight: tf.Variable
) -> None:
    @tf.function
    def train_step(x):
        weight.assign_sub(x)

    @tf.function
    def predict(x):
        return weight * x

    watched = watch()
    for _ in range(5):
        train_step(tf.constant(0.1))
        predict(tf.constant(1.0))
    assert watched.end() == 5
    assert watched.rules == [["train_step"]]
    ((name, others),) = watched.calls.others.items()
    assert "predict (" in name
    assert others.calls == 5
    assert 0 < others.seconds < 10


def test_a_function_that_is_made_anew_is_known_by_its_code(
    watch: Callable[..., Watched], weight: tf.Variable
) -> None:
    watched = watch()
    for _ in range(4):

        @tf.function
        def train_step(x):
            weight.assign_sub(x)

        train_step(tf.constant(0.1))
    assert watched.end() == 4


def test_a_function_that_only_trains_in_a_later_trace_counts_from_there(
    watch: Callable[..., Watched], weight: tf.Variable
) -> None:
    @tf.function
    def run(x, training):
        if training:
            weight.assign_sub(x)
        return weight * x

    watched = watch()
    for training in (False, False, True, True, True):
        run(tf.constant(0.1), training)
    assert watched.end() == 3


def test_calls_inside_of_another_are_no_steps(
    watch: Callable[..., Watched], weight: tf.Variable
) -> None:
    @tf.function
    def inner(x):
        weight.assign_sub(x)

    @tf.function
    def outer(x):
        inner(x)
        inner(x)

    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse", run_eagerly=True)
    watched = watch()
    for _ in range(3):
        outer(tf.constant(0.1))
    assert watched.recorder.rows == 3
    for _ in range(4):
        model.train_on_batch(np.zeros((2, 2)), np.zeros((2, 1)))
    assert watched.end() == 7
    assert watched.rules[1] == ["Sequential.train_on_batch"]


def test_an_eager_optimizer_makes_steps_under_the_name_that_was_called(
    watch: Callable[..., Watched], weight: tf.Variable
) -> None:
    optimizer = tf.keras.optimizers.SGD(0.1)
    watched = watch()
    for _ in range(4):
        with tf.GradientTape() as tape:
            loss = weight * weight
        optimizer.apply_gradients([(tape.gradient(loss, weight), weight)])
    assert watched.end() == 4
    assert watched.rules == [["SGD.apply_gradients"]]


def test_a_call_that_raises_is_no_step_and_its_error_passes(
    watch: Callable[..., Watched], weight: tf.Variable
) -> None:
    @tf.function
    def train_step(x):
        weight.assign_sub(x)
        tf.debugging.assert_less(x, 5.0)

    watched = watch()
    for value in (1.0, 2.0, 9.0, 3.0):
        if value == 9.0:
            with pytest.raises(tf.errors.InvalidArgumentError):
                train_step(tf.constant(value))
        else:
            train_step(tf.constant(value))
    assert watched.end() == 3


def test_one_function_can_be_chosen_by_its_name(
    watch: Callable[..., Watched], weight: tf.Variable
) -> None:
    @tf.function
    def train_step(x):
        weight.assign_sub(x)

    @tf.function
    def evaluate(x):
        return weight * x

    watched = watch("evaluate")
    for _ in range(4):
        train_step(tf.constant(0.1))
        evaluate(tf.constant(0.1))
    assert watched.end() == 4
    assert watched.rules == [["evaluate"]]


def test_training_in_another_thread_is_seen_and_two_threads_are_not_mixed(
    watch: Callable[..., Watched], weight: tf.Variable
) -> None:
    @tf.function
    def prepare(x):
        return x + 1.0

    @tf.function
    def train_step(x):
        weight.assign_sub(x)

    def train() -> None:
        for _ in range(5):
            train_step(tf.constant(0.1))

    watched = watch()
    prepare(tf.constant(1.0))
    thread = threading.Thread(target=train)
    thread.start()
    thread.join()
    train()
    assert watched.recorder.rows == 5
