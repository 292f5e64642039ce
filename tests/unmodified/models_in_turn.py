"""Four models of one size are trained one after the other; the images come slowly."""

import time

import numpy as np
import tensorflow as tf

# tbslow: import tbslow; tbslow.start("logs")

tf.keras.utils.set_random_seed(3)


def images():
    rng = np.random.default_rng(3)
    for _ in range(40):
        time.sleep(0.02)
        yield rng.normal(size=(8, 6)).astype("float32")


data = tf.data.Dataset.from_generator(images, output_signature=tf.TensorSpec((8, 6), tf.float32))


def make_step(model, optimizer):
    @tf.function
    def train_step(batch):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(batch) - tf.reduce_sum(batch, 1, keepdims=True)) ** 2)
        weights = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        return loss

    return train_step


for seed in range(4):
    model = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(1)])
    train_step = make_step(model, tf.keras.optimizers.SGD(0.01))
    # tbslow: for batch in tbslow.data(data):
    for batch in data:
        # tbslow: with tbslow.summary.step(): loss = train_step(batch)
        loss = train_step(batch)
    print(f"model {seed}: {float(loss):.4f}")
