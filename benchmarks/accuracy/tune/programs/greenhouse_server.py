"""Trains a greenhouse controller while a small status thread tells others how it is going."""

import json
import pathlib
import threading
import time

import numpy as np
import tensorflow as tf


class Status:
    """Shared between the training and the thread that publishes it."""

    def __init__(self):
        self.lock = threading.Lock()
        self.records = []
        self.running = True

    def add(self, **values):
        with self.lock:
            self.records.append(values)

    def publish(self, path):
        while self.running:
            with self.lock:
                text = json.dumps({"state": "training", "records": self.records}, indent=1)
                path.write_text(text)
            time.sleep(0.02)


def climate(batch):
    x = np.random.uniform(-1, 1, (batch, 24)).astype("float32")
    y = np.stack([x[:, :8].sum(1), np.tanh(x[:, 8:16].sum(1)), x[:, 16] * x[:, 17]], 1)
    return tf.constant(x), tf.constant(y.astype("float32"))


controller = tf.keras.Sequential(
    [
        tf.keras.layers.Input((24,)),
        tf.keras.layers.Dense(160, "swish"),
        tf.keras.layers.Dense(160, "swish"),
        tf.keras.layers.Dense(3),
    ]
)
optimizer = tf.keras.optimizers.Adam(1e-3)


@tf.function(reduce_retracing=True)
def control_step(x, y):
    with tf.GradientTape() as tape:
        error = tf.reduce_mean(tf.square(controller(x) - y), axis=0)
        loss = tf.reduce_sum(error)
    grads = tape.gradient(loss, controller.trainable_variables)
    optimizer.apply_gradients(zip(grads, controller.trainable_variables))
    return loss, error


status = Status()
publisher = threading.Thread(target=status.publish, args=(pathlib.Path("status.json"),))
publisher.start()
try:
    for step in range(2500):
        loss, error = control_step(*climate(64))
        heat, water, light = error.numpy().tolist()
        status.add(step=step, loss=float(loss), heat=heat, water=water, light=light)
        if step % 250 == 0:
            print("step", step, "loss", float(loss))
finally:
    status.running = False
    publisher.join()
