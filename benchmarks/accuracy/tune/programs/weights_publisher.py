"""Trains a ranker while a thread publishes fresh weights to the serving side."""

import io
import threading
import time

import numpy as np
import tensorflow as tf

DOCS, FEATURES = 20, 64


class Publisher(threading.Thread):
    """Sends the weights every half second; the upload is limited to a few megabytes per second."""

    def __init__(self, model, lock, megabytes_per_second=6.0):
        super().__init__(daemon=True)
        self.model, self.lock, self.speed = model, lock, megabytes_per_second
        self.done = threading.Event()
        self.version = 0

    def upload(self, data):
        time.sleep(len(data) / 1e6 / self.speed)
        self.version += 1

    def run(self):
        while not self.done.wait(0.5):
            with self.lock:
                packed = io.BytesIO()
                np.savez(packed, *self.model.get_weights())
                self.upload(packed.getvalue())


def ranker():
    inputs = tf.keras.Input((DOCS, FEATURES))
    x = inputs
    for width in (512, 512, 256):
        x = tf.keras.layers.Dense(width, activation="relu")(x)
        x = tf.keras.layers.LayerNormalization()(x)
    return tf.keras.Model(inputs, tf.keras.layers.Dense(1)(x)[..., 0])


model = ranker()
optimizer = tf.keras.optimizers.Adam(5e-4)
model_lock = threading.Lock()


@tf.function
def list_step(features, relevance):
    with tf.GradientTape() as tape:
        scores = model(features, training=True)
        loss = tf.reduce_mean(
            tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax(relevance), scores)
        )
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


def queries(seed=15):
    rng = np.random.default_rng(seed)
    useful = rng.normal(size=FEATURES)
    while True:
        features = rng.normal(size=(24, DOCS, FEATURES)).astype("float32")
        yield tf.constant(features), tf.constant((features @ useful).astype("float32"))


publisher = Publisher(model, model_lock)
publisher.start()
for step, (features, relevance) in zip(range(1500), queries()):
    with model_lock:
        loss = list_step(features, relevance)
    if step % 100 == 0:
        print(f"step {step} loss {float(loss):.4f}, version {publisher.version} is out")
publisher.done.set()
publisher.join()
