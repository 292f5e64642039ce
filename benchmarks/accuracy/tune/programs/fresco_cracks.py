"""Crack detection in fresco tiles, starting from a texture network trained on plaster."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

SIZE = 48
SETTINGS = {"batch": 32, "pretrain_epochs": 1, "epochs": 7, "tiles": 1280, "lr": 0.01}


def plaster(n, rng):
    """Textures with one of four grain directions."""
    yy, xx = np.mgrid[0:SIZE, 0:SIZE] / SIZE
    label = rng.integers(0, 4, n)
    angle = label * np.pi / 4
    freq = rng.uniform(4, 9, n)
    phase = freq[:, None, None] * (
        np.cos(angle)[:, None, None] * xx + np.sin(angle)[:, None, None] * yy
    )
    img = np.sin(2 * np.pi * phase) + rng.normal(0, 0.6, (n, SIZE, SIZE))
    return np.repeat(img[..., None], 3, -1).astype("float32"), label.astype("int32")


def fresco(n, rng):
    img, _ = plaster(n, rng)
    cracked = rng.integers(0, 2, n)
    for i in np.flatnonzero(cracked):
        r = rng.integers(8, SIZE - 8)
        walk = np.clip(r + np.cumsum(rng.integers(-1, 2, SIZE)), 0, SIZE - 1)
        img[i, walk, np.arange(SIZE)] -= 3.0
    return img, cracked.astype("int32")


def texture_network():
    inp = keras.Input((SIZE, SIZE, 3))
    x = inp
    for width in (24, 48, 64):
        x = layers.Conv2D(width, 3, padding="same", activation="relu")(x)
        x = layers.Conv2D(width, 3, padding="same", activation="relu")(x)
        x = layers.MaxPooling2D()(x)
    return keras.Model(inp, x, name="texture")


class CrackModel(keras.Model):
    """Body and head with their own learning-rate factors."""

    def __init__(self, body, body_factor, head_factor):
        super().__init__()
        self.body = body
        self.head = keras.Sequential(
            [
                layers.Conv2D(32, 1, activation="relu"),
                layers.Flatten(),
                layers.Dense(32, activation="relu"),
                layers.Dense(1),
            ]
        )
        self.body_factor = tf.Variable(body_factor, trainable=False, dtype=tf.float32)
        self.head_factor = tf.Variable(head_factor, trainable=False, dtype=tf.float32)
        self.loss_mean = keras.metrics.Mean(name="loss")
        self.hit = keras.metrics.BinaryAccuracy(name="acc", threshold=0.0)

    def call(self, x, training=False):
        return self.head(self.body(x, training=training), training=training)

    def train_step(self, data):
        x, y = data
        y = tf.cast(y, tf.float32)[:, None]
        with tf.GradientTape() as tape:
            logits = self(x, training=True)
            loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logits))
        slow, fast = self.body.trainable_variables, self.head.trainable_variables
        grads = tape.gradient(loss, slow + fast)
        grads = [g * self.body_factor for g in grads[: len(slow)]] + [
            g * self.head_factor for g in grads[len(slow) :]
        ]
        self.optimizer.apply_gradients(zip(grads, slow + fast))
        self.loss_mean.update_state(loss)
        self.hit.update_state(y, logits)
        return {"loss": self.loss_mean.result(), "acc": self.hit.result()}

    @property
    def metrics(self):
        return [self.loss_mean, self.hit]


def pretrain(body, rng):
    x, y = plaster(640, rng)
    clf = keras.Sequential([body, layers.GlobalAveragePooling2D(), layers.Dense(4)])
    clf.compile(
        keras.optimizers.Adam(1e-3),
        jit_compile=False,
        metrics=["accuracy"],
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    clf.fit(x, y, batch_size=32, epochs=SETTINGS["pretrain_epochs"], verbose=2)


def main():
    keras.utils.set_random_seed(8)
    rng = np.random.default_rng(8)
    body = texture_network()
    pretrain(body, rng)
    x, y = fresco(SETTINGS["tiles"], rng)
    ds = (
        tf.data.Dataset.from_tensor_slices((x, y))
        .shuffle(1280, seed=1)
        .batch(SETTINGS["batch"], drop_remainder=True)
        .map(lambda a, b: (tf.image.random_flip_left_right(a), b))
        .prefetch(2)
    )
    model = CrackModel(body, body_factor=0.0, head_factor=1.0)
    model(x[:1])
    model.compile(keras.optimizers.SGD(SETTINGS["lr"], momentum=0.9), jit_compile=False)
    model.fit(ds, epochs=SETTINGS["epochs"], verbose=2)
    print("P(crack) of first tiles:", tf.sigmoid(model(x[:6]))[:, 0].numpy().round(2), y[:6])


if __name__ == "__main__":
    main()
