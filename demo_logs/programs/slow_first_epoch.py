"""The first epoch traces, makes variables and fills a cache; the later ones are fast."""

import sys

import numpy as np
import tensorflow as tf

import tbslow

EPOCHS = 5
BATCHES = 160
tf.random.set_seed(1)


def read(index: np.ndarray) -> np.ndarray:
    noise = np.random.default_rng(int(index)).normal(size=(4000, 256))
    return np.sort(noise, axis=0)[:32].astype(np.float32)


def load(index):
    x = tf.numpy_function(read, [index], tf.float32)
    x.set_shape([32, 256])
    return x, tf.reduce_mean(x, axis=1, keepdims=True)


def main(logdir: str) -> None:
    dataset = tf.data.Dataset.range(BATCHES).map(load).cache().prefetch(2)
    model = tf.keras.Sequential([tf.keras.layers.Dense(512, "relu"), tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.Adam(0.001)

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    with tbslow.start(logdir):
        for _ in range(EPOCHS):
            for x, y in tbslow.data(dataset):
                with tbslow.summary.step():
                    loss = train_step(x, y)
    print("loss", float(loss))


if __name__ == "__main__":
    main(sys.argv[1])
