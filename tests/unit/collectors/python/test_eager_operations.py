"""Operations that a line of the program starts are told from graphs, models, and copies."""

from __future__ import annotations

import sys
import threading
from collections import Counter

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

from tb_slowdown_plugin.collectors.python.eager_operations import (  # noqa: E402
    caller_of_model,
    converts_list,
    is_given_array,
    runs_graph,
    runs_no_graph,
    trains_eagerly,
)

pytestmark = pytest.mark.tensorflow
FRAMES = 200


def share(work, is_it=runs_no_graph):
    """Of the frames of a thread that does this again and again, those that start an operation."""
    over = threading.Event()

    def repeat():
        while not over.is_set():
            work()

    thread = threading.Thread(target=repeat, daemon=True)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    seen = Counter()
    thread.start()
    try:
        while seen.total() < FRAMES:
            over.wait(1e-3)
            frame = sys._current_frames().get(thread.ident)
            seen[frame is not None and is_it(frame)] += 1
    finally:
        sys.setswitchinterval(interval)
        over.set()
        thread.join(10)
    return seen[True] / FRAMES


def test_single_operations_are_seen() -> None:
    rows = tf.ones((64, 10))

    def one_by_one():
        for row in range(64):
            tf.argmax(rows[row])

    assert share(one_by_one) > 0.5


def test_operations_that_keras_starts_are_seen() -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(20) for _ in range(5)])
    model.build((None, 20))
    weights = model.get_weights()
    accuracy = tf.keras.metrics.SparseCategoricalAccuracy()
    labels, scores = tf.zeros((64,), tf.int32), tf.ones((64, 10))
    assert share(lambda: model.set_weights(weights)) > 0.5
    assert share(lambda: accuracy.update_state(labels, scores)) > 0.5


def test_graphs_are_none() -> None:
    weight = tf.Variable(tf.ones((200, 200)))

    @tf.function
    def step():
        return tf.matmul(weight, weight)

    assert share(step) < 0.05
    assert share(step, runs_graph) > 0.5
    assert share(lambda: tf.matmul(weight, weight), runs_graph) < 0.05


@pytest.mark.timed
def test_a_list_that_is_made_a_tensor_is_told_from_operations_and_constants():
    values = [float(number) for number in range(20_000)]
    rows = tf.ones((64, 10))
    model = tf.keras.Sequential([tf.keras.layers.Dense(20)])
    assert share(lambda: tf.gather(values, [1, 2]), converts_list) > 0.5
    assert share(lambda: tf.gather(tf.constant(values), [1, 2]), converts_list) < 0.1
    assert share(lambda: tf.convert_to_tensor(values, tf.float32), converts_list) > 0.5
    assert share(lambda: tf.argmax(rows[5]), converts_list) < 0.1
    assert share(lambda: tf.convert_to_tensor([rows] * 20), converts_list) < 0.1
    assert share(lambda: model(rows), converts_list) < 0.1


def test_an_array_that_is_made_a_tensor_is_seen_also_by_a_graph():
    rows = np.ones((4_000_000,), np.float32)
    graph = tf.function(lambda values: values[0])
    graph(rows)
    assert share(lambda: tf.gather(rows, [1, 2]), is_given_array) > 0.5
    assert share(lambda: graph(rows), is_given_array) > 0.5
    tensor = tf.constant(rows)
    assert share(lambda: tf.gather(tensor, [1, 2]), is_given_array) < 0.3
    assert share(lambda: graph(tensor), is_given_array) < 0.1


def test_a_model_that_is_called_runs_no_graph_and_one_that_predicts_does():
    rows, targets = tf.ones((64, 10)), tf.ones((64, 1))
    model = tf.keras.Sequential([tf.keras.layers.Dense(20) for _ in range(5)])
    model.compile("sgd", "mse")
    model.predict(rows, verbose=0)
    assert share(lambda: tf.argmax(model(rows), 1), runs_no_graph) > 0.5
    assert share(lambda: model.predict(rows, verbose=0), runs_no_graph) < 0.05
    assert share(lambda: model.train_on_batch(rows, targets), runs_no_graph) < 0.05


def test_gradients_and_updates_without_a_graph_are_seen():
    weight = tf.Variable(tf.ones((20, 20)))
    model = tf.keras.Sequential([tf.keras.layers.Dense(20) for _ in range(5)])
    optimizer = tf.keras.optimizers.Adam(1e-3)
    rows = tf.ones((8, 20))
    model(rows)

    def train():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(model(rows) @ weight)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

    graph = tf.function(train)
    graph()
    assert share(train, trains_eagerly) > 0.8
    assert share(graph, trains_eagerly) < 0.05


def frames_here():
    frame, stack = sys._getframe(1), []
    while frame is not None:
        stack.append(frame)
        frame = frame.f_back
    return stack


class Noted(tf.keras.layers.Layer):
    """Notes who called it."""

    def call(self, rows):
        self.caller = caller_of_model(frames_here()).f_code.co_name
        return rows


class Around(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.noted = Noted()

    def call(self, rows):
        return self.noted(rows)


def test_who_calls_a_model_is_the_place_of_what_its_layers_do():
    def grade(model):
        return model(tf.ones((2, 3)))

    model = Around()
    grade(model)
    assert model.noted.caller == "grade"
    inputs = tf.keras.Input((3,))
    layer = Noted()
    grade(tf.keras.Model(inputs, layer(inputs)))
    assert layer.caller == "grade"


def test_without_a_model_it_is_the_innermost_function_of_the_program():
    def innermost():
        return caller_of_model(frames_here()).f_code.co_name

    def around():
        return innermost()

    assert around() == "innermost"


def test_what_a_callback_calls_is_its_own():
    class Calls(tf.keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            self.model.noted(tf.ones((1, 3)))

    model = Around()
    model.compile(loss=None)
    model.train_step = lambda data: {"loss": tf.constant(0.0)}
    model.fit(tf.ones((2, 3)), callbacks=[Calls()], verbose=0)
    assert model.noted.caller == "on_train_batch_end"
