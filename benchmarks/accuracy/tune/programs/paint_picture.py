"""Paints one picture in the manner of another: statistics of random filters are matched."""

import sys

import numpy as np
import tensorflow as tf

SIZE, STEPS = 288, 36


def plasma(seed, roughness):
    rng = np.random.default_rng(seed)
    out = np.zeros((SIZE, SIZE, 3))
    for k in range(1, 7):
        coarse = rng.normal(size=(2**k, 2**k, 3))
        out += tf.image.resize(coarse, (SIZE, SIZE), "bicubic").numpy() * roughness**k
    return tf.constant((out - out.min()) / np.ptp(out), tf.float32)[None]


class RandomFeatures(tf.Module):
    def __init__(self):
        super().__init__()
        random = tf.random.Generator.from_seed(7)
        widths = [3, 24, 48, 64]
        self.kernels = [
            random.normal([3, 3, i, o]) * (2 / (9 * i)) ** 0.5 for i, o in zip(widths, widths[1:])
        ]

    def __call__(self, x):
        maps = []
        for kernel in self.kernels:
            x = tf.nn.relu(tf.nn.conv2d(x, kernel, 1, "SAME"))
            maps.append(x)
            x = tf.nn.avg_pool2d(x, 2, 2, "SAME")
        return maps


def gram(m):
    area = tf.cast(tf.shape(m)[1] * tf.shape(m)[2], tf.float32)
    return tf.einsum("bijc,bijd->bcd", m, m) / area


features = RandomFeatures()
content, style = plasma(1, 0.6), plasma(2, 0.95)
wanted_content = features(content)[-1]
wanted_style = [gram(m) for m in features(style)]
canvas = tf.Variable(content)
adam = tf.keras.optimizers.Adam(0.02, beta_1=0.99, epsilon=0.1)


@tf.function
def stroke():
    with tf.GradientTape() as tape:
        maps = features(canvas)
        style_loss = tf.add_n(
            [tf.reduce_mean((gram(m) - w) ** 2) for m, w in zip(maps, wanted_style)]
        )
        content_loss = tf.reduce_mean((maps[-1] - wanted_content) ** 2)
        loss = (
            style_loss
            + 1e-2 * content_loss
            + 1e-5 * tf.reduce_sum(tf.image.total_variation(canvas))
        )
    adam.apply_gradients([(tape.gradient(loss, canvas), canvas)])
    canvas.assign(tf.clip_by_value(canvas, 0.0, 1.0))
    return loss


for k in range(STEPS):
    loss = stroke()
    sys.stdout.write(f"stroke {k + 1}/{STEPS}: {float(loss):.5f}\n")
tf.io.write_file("picture.png", tf.io.encode_png(tf.cast(canvas[0] * 255, tf.uint8)))
