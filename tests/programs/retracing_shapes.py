"""Texts are padded to the longest of their batch, so that batches come in ever new shapes."""

import time

import injector
import numpy as np
import ordinary  # noqa: F401, one thread, fixed seeds
import tensorflow as tf

import tbslow

STEPS = 400
LONGEST = 200


def batches(healthy):
    random = np.random.default_rng(7)
    for _ in range(STEPS):
        length = LONGEST if healthy else int(random.integers(8, LONGEST))
        yield random.integers(1, 5000, size=(32, length)), random.integers(0, 2, size=(32, 1))


def main(logdir, truth, healthy):
    net = tf.keras.Sequential(
        [
            tf.keras.layers.Embedding(5000, 32),
            tf.keras.layers.Conv1D(64, 5, padding="same", activation="relu"),
            tf.keras.layers.GlobalAveragePooling1D(),
            tf.keras.layers.Dense(1),
        ]
    )
    optimizer = tf.keras.optimizers.SGD(0.1)
    loss_of = tf.keras.losses.BinaryCrossentropy(from_logits=True)

    @tf.function
    def train_step(tokens, labels):
        with tf.GradientTape() as tape:
            loss = loss_of(labels, net(tokens))
        gradients = tape.gradient(loss, net.trainable_variables)
        optimizer.apply_gradients(zip(gradients, net.trainable_variables, strict=True))
        return loss

    seen = set()
    with tbslow.start(logdir):
        for i, (tokens, labels) in enumerate(tbslow.data(batches(healthy))):
            with tbslow.summary.step(items=tokens.size):
                began = time.perf_counter()
                train_step(tf.constant(tokens), tf.constant(labels))
                if i:
                    seconds = time.perf_counter() - began
                    truth.add(i, seconds, defect=tokens.shape not in seen)
                seen.add(tokens.shape)


if __name__ == "__main__":
    injector.run("retracing", main)
