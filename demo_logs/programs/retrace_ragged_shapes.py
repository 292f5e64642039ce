"""Sentences are padded to the longest of their batch, so batches keep coming in new shapes."""

import sys

import numpy as np
import tensorflow as tf

import tbslow

STEPS = 500
tf.random.set_seed(1)


def batches():
    random = np.random.default_rng(7)
    for _ in range(STEPS):
        length = int(random.integers(8, 200))
        yield random.integers(1, 5000, size=(32, length)), random.integers(0, 2, size=(32, 1))


def main(logdir: str) -> None:
    model = tf.keras.Sequential(
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
            loss = loss_of(labels, model(tokens))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    with tbslow.start(logdir):
        for tokens, labels in tbslow.data(batches()):
            with tbslow.summary.step(items=tokens.size):
                loss = train_step(tf.constant(tokens), tf.constant(labels))
    print("loss", float(loss))


if __name__ == "__main__":
    main(sys.argv[1])
