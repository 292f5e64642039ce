"""Segments flowers in small pictures and reports each value to TensorBoard."""

import numpy as np
import tensorflow as tf

LOGS = "tb/flowers"


def flowers(n, side=48):
    rng = np.random.default_rng(17)
    yy, xx = np.mgrid[0:side, 0:side]
    pictures, masks = [], []
    for _ in range(n):
        cy, cx, r = rng.uniform(12, side - 12, 2).tolist() + [rng.uniform(6, 12)]
        angle = np.arctan2(yy - cy, xx - cx)
        petals = r * (0.7 + 0.3 * np.cos(angle * rng.integers(4, 8)))
        mask = np.hypot(yy - cy, xx - cx) < petals
        color = rng.uniform(0.4, 1, 3)
        pictures.append(mask[..., None] * color + rng.normal(0, 0.2, (side, side, 3)))
        masks.append(mask[..., None])
    return np.array(pictures, "float32"), np.array(masks, "float32")


class Board:
    """Scalars by name."""

    def __init__(self, folder):
        self.folder = folder

    def write(self, step, **values):
        for name, value in values.items():
            writer = tf.summary.create_file_writer(f"{self.folder}/{name}")
            with writer.as_default():
                tf.summary.scalar("value", value, step=step)
            writer.close()


def small_unet():
    conv = lambda f: tf.keras.layers.Conv2D(f, 3, padding="same", activation="relu")  # noqa: E731
    x = inputs = tf.keras.Input((48, 48, 3))
    down = conv(8)(x)
    x = conv(16)(tf.keras.layers.MaxPooling2D()(down))
    x = tf.keras.layers.UpSampling2D()(x)
    x = conv(8)(tf.keras.layers.Concatenate()([x, down]))
    return tf.keras.Model(inputs, tf.keras.layers.Conv2D(1, 1)(x))


net, adam = small_unet(), tf.keras.optimizers.Adam(2e-3)


@tf.function
def train(picture, mask):
    with tf.GradientTape() as tape:
        logits = net(picture, training=True)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(mask, logits))
    grads = tape.gradient(loss, net.trainable_variables)
    adam.apply_gradients(zip(grads, net.trainable_variables))
    found = tf.cast(logits > 0, tf.float32)
    dice = 2 * tf.reduce_sum(found * mask) / (tf.reduce_sum(found) + tf.reduce_sum(mask) + 1)
    return loss, dice, {f"norm_{k}": tf.norm(g) for k, g in enumerate(grads)}


pictures, masks = flowers(600)
data = tf.data.Dataset.from_tensor_slices((pictures, masks)).shuffle(600).repeat().batch(12)
board = Board(LOGS)
for step, (picture, mask) in enumerate(data.prefetch(2).take(1300)):
    loss, dice, norms = train(picture, mask)
    board.write(step, loss=loss, dice=dice, **norms)
    if step % 100 == 0:
        print(step, f"loss {loss:.3f} dice {dice:.3f}")
