"""From step 100 on, images come in ever new sizes: convolutions are prepared for each anew."""

import time

import injector
import numpy as np
import ordinary
import tensorflow as tf

import tbslow

STEPS = 400
FIXED_UNTIL = 100
SIDE = 24
BATCH = 2
CHANNELS = range(8, 32, 2)


def batches(healthy):
    random = np.random.default_rng(1)
    sides = np.arange(SIDE - 10, SIDE + 10)
    sizes = random.permutation([(height, width) for height in sides for width in sides])
    for i in range(STEPS):
        height, width = (SIDE, SIDE) if healthy or i < FIXED_UNTIL else sizes[i]
        yield random.normal(size=(BATCH, height, width, 3)), np.zeros([BATCH, 1])


def main(logdir, truth, healthy):
    conv = tf.keras.layers.Conv2D
    net = tf.keras.Sequential(
        [
            tf.keras.Input([None, None, 3]),
            *(conv(channels, 3, padding="same", activation="relu") for channels in CHANNELS),
            tf.keras.layers.GlobalAveragePooling2D(),
            tf.keras.layers.Dense(1),
        ]
    )
    optimizer = ordinary.sgd(net)

    spec = (tf.TensorSpec([BATCH, None, None, 3]), tf.TensorSpec([BATCH, 1]))

    @tf.function(input_signature=spec)
    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((net(x) - y) ** 2)
        gradients = tape.gradient(loss, net.trainable_variables)
        optimizer.apply_gradients(zip(gradients, net.trainable_variables, strict=True))
        return loss

    images = tf.data.Dataset.from_generator(lambda: batches(healthy), output_signature=spec)
    with tbslow.start(logdir):
        for i, (x, y) in enumerate(tbslow.data(images.prefetch(2))):
            with tbslow.summary.step(items=x.shape[1] * x.shape[2]):
                began = time.perf_counter()
                train_step(x, y)
                if i:
                    truth.add(i, time.perf_counter() - began, defect=i >= FIXED_UNTIL)


if __name__ == "__main__":
    injector.run("shape_churn", main)
