"""Each epoch begins by filling a shuffle buffer nearly as large as the data set."""

import sys

import numpy as np
import tensorflow as tf

import tbslow

EPOCHS = 8
SAMPLES = 3200
tf.random.set_seed(1)


def read(index: np.ndarray) -> np.ndarray:
    return np.random.default_rng(int(index)).normal(size=4096).astype(np.float32)[:256]


def load(index):
    x = tf.numpy_function(read, [index], tf.float32)
    x.set_shape([256])
    return x, tf.reduce_sum(x, keepdims=True)


def main(logdir: str) -> None:
    dataset = tf.data.Dataset.range(SAMPLES).map(load).shuffle(3000).batch(32).prefetch(2)
    model = tf.keras.Sequential([tf.keras.layers.Dense(1024, "relu"), tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD(0.001)

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
