"""A monitored training computes what it would have computed without: the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("tensorflow")

from integration.written import failures, numbers

pytestmark = pytest.mark.tensorflow

SEEDED = """
import contextlib, hashlib
import keras
import numpy as np

tf.config.experimental.enable_op_determinism()
keras.utils.set_random_seed(7)
x = np.random.default_rng(0).normal(size=(256, 8)).astype("float32")
y = x.sum(1, keepdims=True)
data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(64, seed=3).batch(16).prefetch(2)
model = keras.Sequential(
    [keras.Input((8,)), keras.layers.Dense(32, "relu"), keras.layers.Dropout(0.3),
     keras.layers.BatchNormalization(), keras.layers.Dense(1)]
)
monitored = given["monitored"]

def tell(*more):
    values = [*model.get_weights(), *(np.asarray(v) for v in optimizer.variables), *more]
    print(hashlib.sha256(b"".join(value.tobytes() for value in values)).hexdigest())
    print(hashlib.sha256(np.random.random(8).tobytes()).hexdigest())  # Python's draws, too
    print(float(tf.random.uniform([])))
"""
FIT = """
optimizer = keras.optimizers.Adam(1e-2)
model.compile(optimizer, "mse", metrics=["mae"])
callbacks = [tbslow.keras.SlowdownCallback(logdir)] if monitored else []
history = model.fit(data, validation_data=data, epochs=3, verbose=0, callbacks=callbacks)
tell(np.array([history.history[name] for name in sorted(history.history)]))
"""
LOOP = """
optimizer = keras.optimizers.SGD(1e-2, momentum=0.9)

@tf.function
def update(x, y, rate):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x, training=True) - y) ** 2) * rate
    optimizer.apply_gradients(
        zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
    )
    return loss

losses = []
with tbslow.start(logdir) if monitored else contextlib.nullcontext():
    for epoch in range(3):
        for number, (a, b) in enumerate(tbslow.data(data) if monitored else data):
            with tbslow.summary.step() if monitored else contextlib.nullcontext():
                losses.append(update(a, b, number % 2))  # retraced, as programs are
tell(np.array(losses))
"""


@pytest.mark.parametrize("body", [FIT, LOOP], ids=["Keras fit", "custom loop"])
def test_the_results_are_the_same_to_the_bit(host, tmp_path: Path, body: str) -> None:
    plain, monitored = (
        host.run(SEEDED + body, tmp_path / "run", monitored=monitored)
        for monitored in (False, True)
    )
    assert plain.returncode == monitored.returncode == 0, plain.stderr + monitored.stderr
    assert len(plain.stdout.splitlines()) == 3
    assert monitored.stdout == plain.stdout
    assert len(numbers(tmp_path)) == 48


LATE = """
import contextlib, gc

tf.keras.utils.set_random_seed(7)
data = tf.data.Dataset.range(400).map(lambda number: tf.cast(number, tf.float32)).batch(2)
model = tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse", steps_per_execution=2)
pairs = tf.data.Dataset.from_tensors((tf.ones((4, 1)), tf.ones((4, 1)))).repeat(8)
weight = tf.Variable(1.0)

@tf.function
def step(batches):
    weight.assign_add(tf.reduce_sum(next(batches)))
    return weight * weight

@tf.function
def outer(batches):
    return 2.0 * step(batches)

@tf.function
def loop(batches):
    for _ in tf.range(3):
        weight.assign_add(tf.reduce_sum(next(batches)))
    return weight.read_value()

def gradient(batches):
    with tf.GradientTape() as tape:
        loss = outer(batches)
    return tape.gradient(loss, weight)

def train(steps):
    told = []
    for number in range(3):
        with tbslow.summary.step() if given["monitored"] and steps else contextlib.nullcontext():
            told += [float(each(batches)) for each in (step, outer, loop, gradient)]
    model.fit(pairs, verbose=0)
    return told, [value.tolist() for value in model.get_weights()]

batches = iter(data)
with (
    tbslow.start(logdir, disable=given["disable"])
    if given["monitored"]
    else contextlib.nullcontext()
):
    print(train(True))
    traced = [each.experimental_get_tracing_count() for each in (step, outer, loop)]
    tf.config.experimental.enable_op_determinism()
    print(train(True))
print(train(False))
assert traced == [each.experimental_get_tracing_count() for each in (step, outer, loop)]
again = tf.function(lambda batches: outer(batches) + step(batches))
print(float(again(batches)))
del step, outer, loop, again, model
gc.collect()
"""


@pytest.mark.parametrize("disable", [[], ["communication"]], ids=["all", "one disabled"])
def test_op_determinism_may_be_switched_on_late(host, tmp_path: Path, disable: list[str]) -> None:
    plain, monitored = (
        host.run(LATE, tmp_path / "run", monitored=monitored, disable=disable)
        for monitored in (False, True)
    )
    assert plain.returncode == monitored.returncode == 0, plain.stderr + monitored.stderr
    assert len(plain.stdout.splitlines()) == 4
    assert monitored.stdout == plain.stdout
    (failure,) = failures(tmp_path)
    assert failure.part == "input_wait"
    assert "waits in graphs are not measured from here on" in failure.reason
