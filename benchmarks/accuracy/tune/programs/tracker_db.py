"""Beat detection in heart signals; runs and metrics are tracked in a small database."""

import sqlite3
import time

import numpy as np
import tensorflow as tf


class Tracker:
    """What happened in which step, to compare runs later."""

    def __init__(self, path="runs.db"):
        self.db = sqlite3.connect(path)
        self.db.execute("CREATE TABLE IF NOT EXISTS metric (run, step, name, value, at)")
        self.db.execute("CREATE INDEX IF NOT EXISTS by_name ON metric (run, name, step)")
        self.run = int(time.time())

    def log_metric(self, step, name, value):
        row = (self.run, step, name, float(value), time.time())
        self.db.execute("INSERT INTO metric VALUES (?, ?, ?, ?, ?)", row)
        self.db.commit()

    def log_metrics(self, step, metrics):
        for name, value in metrics.items():
            self.log_metric(step, name, value)


def beats(n, length=256):
    rng = np.random.default_rng(1)
    x = rng.normal(0, 0.2, (n, length)).astype("float32")
    y = np.zeros((n, length), "float32")
    for k in range(n):
        at = rng.integers(4, 30)
        while at < length - 4:
            x[k, at - 2 : at + 3] += [0.3, -0.4, 1.6, -0.5, 0.2]
            y[k, at] = 1.0
            at += rng.integers(25, 60)
    return x[..., None], y


model = tf.keras.Sequential(
    [
        tf.keras.Input((256, 1)),
        tf.keras.layers.Conv1D(16, 9, padding="same", activation="swish"),
        tf.keras.layers.Bidirectional(tf.keras.layers.GRU(12, return_sequences=True)),
        tf.keras.layers.Dense(1),
        tf.keras.layers.Flatten(),
    ]
)
optimizer = tf.keras.optimizers.RMSprop(2e-3)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss = tf.reduce_mean(tf.nn.weighted_cross_entropy_with_logits(y, logits, 20.0))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    hit = tf.cast(logits > 0, tf.float32)
    recall = tf.reduce_sum(hit * y) / tf.reduce_sum(y)
    precision = tf.reduce_sum(hit * y) / (tf.reduce_sum(hit) + 1e-6)
    norms = {f"grad/{k}": tf.norm(g) for k, g in enumerate(grads)}
    return {"loss": loss, "recall": recall, "precision": precision, **norms}


tracker = Tracker()
signals = tf.data.Dataset.from_tensor_slices(beats(800)).repeat().shuffle(800).batch(10)
for step, (x, y) in enumerate(signals.prefetch(tf.data.AUTOTUNE).take(480)):
    metrics = train_step(x, y)
    tracker.log_metrics(step, metrics)
    if step % 40 == 0:
        print("step", step, "loss", float(metrics["loss"]), "recall", float(metrics["recall"]))
