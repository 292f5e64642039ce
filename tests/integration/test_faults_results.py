"""A monitored training computes what it would have computed without: the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("tensorflow")

from integration.written import numbers

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
