"""A step knows which functions of the program it ran, and how often it called them."""

from __future__ import annotations

import gc
import threading

import pytest

tf = pytest.importorskip("tensorflow")

from tb_slowdown_plugin.catalog.events import STEP_FUNCTION  # noqa: E402
from tb_slowdown_plugin.collectors.memory.tapes import Tapes  # noqa: E402
from tb_slowdown_plugin.records.types import Fact  # noqa: E402


def act(x):
    return x + 1.0


def learn(x):
    return x * 2.0


def taken(recording) -> tuple[int, int]:
    watch = recording.stopwatch
    found = watch.ran, watch.calls
    watch.ran = watch.calls = 0
    return found


def named(recording) -> dict[int, str]:
    return {
        round(fact.numbers["bit"]): fact.subject.partition(" (")[0]
        for fact in recording.events
        if isinstance(fact, Fact) and fact.name == STEP_FUNCTION
    }


def test_functions_have_a_bit_each_and_their_calls_are_counted(traced):
    one, other, x = tf.function(act), tf.function(learn), tf.ones(3)
    one(x)
    assert taken(traced) == (0b10, 1)
    for _ in range(4):
        other(x)
    one(x)
    assert taken(traced) == (0b110, 5)
    assert named(traced) == {1: "act", 2: "learn"}


def test_a_function_that_is_made_anew_stays_the_same_one(traced):
    for _ in range(3):
        tf.function(act)(tf.ones(3))
        gc.collect()
    assert taken(traced) == (0b10, 3)
    assert named(traced) == {1: "act"}


def test_two_functions_of_one_line_that_are_both_in_use_are_told_apart(traced):
    generator, critic = (tf.function(act) for _ in range(2))
    generator(tf.ones(3))
    assert taken(traced) == (0b10, 1)
    critic(tf.ones(3))
    assert taken(traced) == (0b100, 1)
    generator(tf.ones(3))
    assert taken(traced) == (0b10, 1)
    assert named(traced) == {1: "act", 2: "act no. 2"}


def test_a_line_that_makes_ever_more_functions_makes_the_same_one(traced):
    kept = []
    for _ in range(6):
        kept.append(tf.function(act))
        kept[-1](tf.ones(3))
    taken(traced)
    kept.append(tf.function(act))
    kept[-1](tf.ones(3))
    assert taken(traced) == (0b10, 1)
    assert len(named(traced)) == 3


def test_a_function_inside_of_another_and_the_stages_of_a_pipeline_are_not_counted(traced):
    inner = tf.function(act)
    outer = tf.function(lambda x: inner(x) + inner(x))
    outer(tf.ones(3))
    outer(tf.ones(3))
    assert taken(traced) == (0b10, 2)
    list(tf.data.Dataset.range(3).map(lambda x: x + 1))
    assert taken(traced) == (0, 0)


def test_another_thread_is_no_step(traced):
    f = tf.function(act)
    thread = threading.Thread(target=f, args=(tf.ones(3),))
    thread.start()
    thread.join()
    assert taken(traced) == (0, 0)


def test_the_steps_of_a_keras_model_are_one_function_each_whatever_line_runs_them(traced):
    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    x, y = tf.ones((4, 2)), tf.ones((4, 1))
    model.train_on_batch(x, y)
    model.train_on_batch(x, y)
    ran, calls = taken(traced)
    assert calls == 2
    model.test_on_batch(x, y)
    assert taken(traced)[0] & ran == 0
    assert set(named(traced).values()) == {"Keras train step", "Keras test step"}


def trained(width):
    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(width)])
    model.compile("sgd", "mse")
    return model, lambda: model.train_on_batch(tf.ones((4, 2)), tf.ones((4, width)))


def test_models_of_other_sizes_are_told_apart_and_those_of_one_size_are_not(traced):
    (_, small), (larger, large), (_, twin) = trained(1), trained(5), trained(1)
    ran = []
    for train in (small, large, twin, large):
        train()
        ran.append(taken(traced)[0])
    assert ran[0] == ran[2] != ran[1] == ran[3]
    of_metric = 2
    numbers = of_metric + sum(
        each.shape.num_elements() for each in larger.variables + larger.optimizer.variables
    )
    other = f"Keras train step with {numbers} numbers in variables"
    assert set(named(traced).values()) == {"Keras train step", other}


def test_a_line_whose_models_go_on_growing_makes_the_same_function(traced):
    ran = []
    for width in range(1, 11):
        gc.collect()  # one that is still there is told apart
        weight = tf.Variable(tf.ones(width))
        tf.function(lambda x: tf.reduce_sum(x * weight))(tf.ones(()))  # noqa: B023
        ran.append(taken(traced)[0])
    assert len(set(ran[:8])) == 8
    assert set(ran[8:]) == {ran[0]}


def test_gradients_outside_of_a_function_are_told_apart(recording):
    tapes = Tapes()
    tapes.start(recording.context)
    try:
        v = tf.Variable(1.0)
        with tf.GradientTape() as tape:
            loss = v * v
        tape.gradient(loss, v)
        assert taken(recording) == (1, 0)

        @tf.function
        def inside():
            with tf.GradientTape() as tape:
                loss = v * v
            return tape.gradient(loss, v)

        inside()
        assert taken(recording) == (0, 0)
    finally:
        tapes.stop()
