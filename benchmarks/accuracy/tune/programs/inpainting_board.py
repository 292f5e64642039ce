"""Fills holes in textures; what the network paints can be watched in TensorBoard."""

import datetime

import numpy as np
import tensorflow as tf

K = tf.keras
SIDE = 48


def textures(n):
    rng = np.random.default_rng(21)
    y, x = np.mgrid[0:SIDE, 0:SIDE] / SIDE
    fields = []
    for _ in range(n):
        f = rng.uniform(2, 14, 4)
        field = np.sin(f[0] * x * 6 + f[1] * y * 6) + np.cos(f[2] * x * y * 9 + f[3])
        fields.append(np.stack([field, field**2, -field], -1))
    fields = np.array(fields, np.float32)
    return (fields - fields.min()) / np.ptp(fields)


def with_hole(full):
    corner = tf.random.uniform([2], 0, SIDE - 16, tf.int32)
    rows, cols = tf.range(SIDE), tf.range(SIDE)
    in_rows = (rows >= corner[0]) & (rows < corner[0] + 16)
    in_cols = (cols >= corner[1]) & (cols < corner[1] + 16)
    mask = tf.cast(in_rows[:, None] & in_cols[None, :], tf.float32)[..., None]
    return full * (1 - mask), full


data = tf.data.Dataset.from_tensor_slices(textures(400)).repeat().shuffle(400)
data = data.map(with_hole, tf.data.AUTOTUNE).batch(16).prefetch(4)

painter = K.Sequential(
    [
        K.Input((SIDE, SIDE, 3)),
        K.layers.Conv2D(12, 5, 2, "same", activation="relu"),
        K.layers.Conv2D(24, 3, 2, "same", activation="relu"),
        K.layers.Conv2DTranspose(12, 3, 2, "same", activation="relu"),
        K.layers.Conv2DTranspose(3, 5, 2, "same", activation="sigmoid"),
    ]
)
optimizer = K.optimizers.Adam(2e-3)
stamp = datetime.datetime.now().strftime("%H%M%S")
writer = tf.summary.create_file_writer(f"board/{stamp}")


@tf.function
def paint_step(holed, full):
    with tf.GradientTape() as tape:
        painted = painter(holed, training=True)
        loss = tf.reduce_mean(tf.abs(painted - full))
    grads = tape.gradient(loss, painter.trainable_variables)
    optimizer.apply_gradients(zip(grads, painter.trainable_variables))
    return loss, painted


with writer.as_default():
    for step, (holed, full) in enumerate(data.take(450)):
        loss, painted = paint_step(holed, full)
        side_by_side = tf.concat([holed, painted, full], axis=2)
        tf.summary.image("holed, painted, full", side_by_side, step=step, max_outputs=16)
        tf.summary.scalar("loss", loss, step=step)
        if step % 50 == 0:
            print("step", step, float(loss))
