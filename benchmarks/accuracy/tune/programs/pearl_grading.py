"""Grades cultured pearls (five lustre classes) from small surface scans.

The classifier is hardened against sensor noise by training on worst-case
perturbed scans instead of the clean ones.
"""

import numpy as np
import tensorflow as tf
import keras
from keras import layers

CLASSES = 5
SIZE = 32
EPS = 0.02


def make_scans(n, seed):
    rng = np.random.default_rng(seed)
    grade = rng.integers(0, CLASSES, n)
    yy, xx = np.mgrid[0:SIZE, 0:SIZE] / SIZE - 0.5
    r = np.sqrt(xx**2 + yy**2)
    cx = rng.uniform(-0.15, 0.15, (n, 1, 1))
    cy = rng.uniform(-0.15, 0.15, (n, 1, 1))
    gloss = np.exp(-((xx - cx) ** 2 + (yy - cy) ** 2) / (0.01 + 0.012 * grade[:, None, None]))
    rings = 0.3 * np.cos(2 * np.pi * r[None] * (3 + grade[:, None, None]))
    img = gloss + rings + rng.normal(0, 0.25, (n, SIZE, SIZE))
    tint = rng.uniform(0.8, 1.0, (n, 1, 1, 3))
    x = np.clip(0.5 + 0.25 * img[..., None] * tint, 0, 1)
    return x.astype("float32"), grade.astype("int32")


def backbone():
    return keras.Sequential(
        [
            keras.Input((SIZE, SIZE, 3)),
            layers.Conv2D(24, 3, padding="same", activation="relu"),
            layers.Conv2D(32, 3, strides=2, padding="same", activation="relu"),
            layers.Conv2D(48, 3, padding="same", activation="relu"),
            layers.Conv2D(64, 3, strides=2, padding="same", activation="relu"),
            layers.GlobalAveragePooling2D(),
            layers.Dense(64, activation="relu"),
            layers.Dense(CLASSES),
        ]
    )


class HardenedGrader(keras.Model):
    def __init__(self, eps, **kw):
        super().__init__(**kw)
        self.net = backbone()
        self.eps = eps
        self.xent = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.loss_m = keras.metrics.Mean(name="loss")
        self.acc_m = keras.metrics.SparseCategoricalAccuracy(name="acc")

    @property
    def metrics(self):
        return [self.loss_m, self.acc_m]

    def call(self, x, training=False):
        return self.net(x, training=training)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            with tf.GradientTape() as probe:
                probe.watch(x)
                clean = self.xent(y, self.net(x, training=True))
            direction = tf.sign(probe.gradient(clean, x))
            shifted = tf.clip_by_value(x + self.eps * direction, 0.0, 1.0)
            logits = self.net(shifted, training=True)
            loss = self.xent(y, logits)
        grads = tape.gradient(loss, self.net.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.net.trainable_variables))
        self.loss_m.update_state(loss)
        self.acc_m.update_state(y, logits)
        return {"loss": self.loss_m.result(), "acc": self.acc_m.result()}

    def test_step(self, data):
        x, y = data
        logits = self.net(x, training=False)
        self.loss_m.update_state(self.xent(y, logits))
        self.acc_m.update_state(y, logits)
        return {"loss": self.loss_m.result(), "acc": self.acc_m.result()}


def main():
    keras.utils.set_random_seed(3)
    xt, yt = make_scans(3000, 1)
    xv, yv = make_scans(500, 2)
    train = tf.data.Dataset.from_tensor_slices((xt, yt)).shuffle(3000).batch(64).prefetch(2)
    val = tf.data.Dataset.from_tensor_slices((xv, yv)).batch(125)
    model = HardenedGrader(EPS)
    model.compile(optimizer=keras.optimizers.Adam(1e-3))
    model.fit(train, validation_data=val, epochs=8, verbose=2)


if __name__ == "__main__":
    main()
