"""From step 700 on the samples are larger, and a map stage without parallelism can't keep up."""

import sys

import numpy as np
import tensorflow as tf

import tbslow

STEPS = 1200
SLOW_FROM = 700
tf.random.set_seed(1)


def augment(index: np.ndarray) -> np.ndarray:
    rows = 1200 if index >= SLOW_FROM else 60
    noise = np.random.default_rng(int(index)).normal(size=(rows, 256))
    return np.sort(noise, axis=0)[:32].astype(np.float32)


def load(index):
    x = tf.numpy_function(augment, [index], tf.float32)
    x.set_shape([32, 256])
    return x, tf.reduce_mean(x, axis=1, keepdims=True)


def main(logdir: str) -> None:
    dataset = tf.data.Dataset.range(STEPS).map(load)
    model = tf.keras.Sequential([tf.keras.layers.Dense(512, "relu"), tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD(0.01)

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    with tbslow.start(logdir):
        for x, y in tbslow.data(dataset):
            with tbslow.summary.step():
                loss = train_step(x, y)
    print("loss", float(loss))


if __name__ == "__main__":
    main(sys.argv[1])
