"""Images come in ever new sizes of the same area: convolutions are prepared for each anew."""

import time

import injector
import numpy as np
import ordinary  # noqa: F401, one thread, fixed seeds
import tensorflow as tf

import tbslow

STEPS = 400
AREA = 1024


def main(logdir, truth, healthy):
    random = np.random.default_rng(1)
    conv = tf.keras.layers.Conv2D
    net = tf.keras.Sequential(
        [
            tf.keras.Input([None, None, 3]),
            *(conv(8, 3, padding="same", activation="relu") for _ in range(12)),
            tf.keras.layers.GlobalAveragePooling2D(),
            tf.keras.layers.Dense(1),
        ]
    )
    optimizer = tf.keras.optimizers.SGD(0.001)
    optimizer.build(net.trainable_variables)

    @tf.function(input_signature=[tf.TensorSpec([8, None, None, 3]), tf.TensorSpec([8, 1])])
    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((net(x) - y) ** 2)
        gradients = tape.gradient(loss, net.trainable_variables)
        optimizer.apply_gradients(zip(gradients, net.trainable_variables, strict=True))
        return loss

    def batches():
        for i in range(STEPS):
            height = 16 if healthy or i < STEPS // 4 else 8 + i // 4
            width = AREA // height
            yield (
                tf.constant(random.normal(size=(8, height, width, 3)), tf.float32),
                tf.zeros([8, 1]),
            )

    seen = set()
    with tbslow.start(logdir):
        for i, (x, y) in enumerate(tbslow.data(batches())):
            with tbslow.summary.step(items=8 * AREA):
                began = time.perf_counter()
                train_step(x, y)
                if i:
                    truth.add(i, time.perf_counter() - began, defect=tuple(x.shape) not in seen)
                seen.add(tuple(x.shape))


if __name__ == "__main__":
    injector.run("shape_churn", main)
