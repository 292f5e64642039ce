"""Scans are decoded by one worker process, which is slower than the model."""

import multiprocessing
import time
import zlib

import numpy as np


def decode(requests, results):
    rng = np.random.default_rng(0)
    packed = zlib.compress(rng.random((64, 128), np.float32).tobytes())
    while requests.get() is not None:
        time.sleep(0.03)  # a request to a picture server
        scans = np.frombuffer(zlib.decompress(packed), np.float32).reshape(64, 128)
        results.put((scans + rng.random((64, 128), np.float32), rng.integers(0, 4, 64)))


def train():
    import tensorflow as tf

    context = multiprocessing.get_context("spawn")
    requests, results = context.Queue(), context.Queue()
    worker = context.Process(target=decode, args=(requests, results), daemon=True)
    worker.start()

    net = tf.keras.Sequential([tf.keras.layers.Dense(64, "relu"), tf.keras.layers.Dense(4)])
    net.build((None, 128))
    sgd = tf.keras.optimizers.SGD(0.05, momentum=0.9)
    sgd.build(net.trainable_variables)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(
                tf.keras.losses.sparse_categorical_crossentropy(y, net(x), from_logits=True)
            )
        sgd.apply_gradients(
            zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables)
        )
        return loss

    for i in range(350):
        requests.put(i)
        x, y = results.get()
        loss = step(x, y)
        if i % 50 == 0:
            print(i, float(loss))
    requests.put(None)


if __name__ == "__main__":
    train()
