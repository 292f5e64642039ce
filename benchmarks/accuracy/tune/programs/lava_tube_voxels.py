"""Segment voids in ground-penetrating radar cubes with a small 3-D U-Net."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

EDGE = 48
CUBES = 30
BATCH = 6


def cubes(n, seed):
    rng = np.random.default_rng(seed)
    z, y, x = np.mgrid[:EDGE, :EDGE, :EDGE].astype("float32")
    out, mask = [], []
    for _ in range(n):
        wander = rng.uniform(0.05, 0.2, 2)
        cy = EDGE / 2 + 8 * np.sin(z * wander[0] + rng.uniform(0, 6))
        cx = EDGE / 2 + 8 * np.cos(z * wander[1] + rng.uniform(0, 6))
        tube = np.hypot(y - cy, x - cx) < rng.uniform(3, 7)
        layered = np.sin(y * rng.uniform(0.3, 0.8))
        out.append(layered * ~tube + rng.normal(0, 0.6, tube.shape))
        mask.append(tube)
    return np.array(out, "float32")[..., None], np.array(mask, "float32")[..., None]


def double(x, f):
    for _ in range(2):
        x = layers.Conv3D(f, 3, padding="same", activation="relu")(x)
    return x


def unet():
    inp = keras.Input((EDGE, EDGE, EDGE, 1))
    a = double(inp, 12)
    b = double(layers.MaxPooling3D()(a), 24)
    c = double(layers.MaxPooling3D()(b), 48)
    u = layers.Conv3DTranspose(24, 2, strides=2)(c)
    u = double(layers.Concatenate()([u, b]), 24)
    u = layers.Conv3DTranspose(12, 2, strides=2)(u)
    u = double(layers.Concatenate()([u, a]), 12)
    return inp, layers.Conv3D(1, 1)(u)


class VoidNet(keras.Model):
    def __init__(self, *args, focus=0.7, **kwargs):
        super().__init__(*args, **kwargs)
        self.focus = focus
        self.total = keras.metrics.Mean(name="loss")
        self.dice = keras.metrics.Mean(name="dice")

    @property
    def metrics(self):
        return [self.total, self.dice]

    def objective(self, y, logits):
        p = tf.sigmoid(logits)
        axes = [1, 2, 3, 4]
        inter = tf.reduce_sum(p * y, axes)
        dice = (2 * inter + 1) / (tf.reduce_sum(p, axes) + tf.reduce_sum(y, axes) + 1)
        bce = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(y, logits))
        return self.focus * tf.reduce_mean(1 - dice) + (1 - self.focus) * bce, dice

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss, dice = self.objective(y, self(x, training=True))
        self.optimizer.apply(tape.gradient(loss, self.trainable_weights), self.trainable_weights)
        self.total.update_state(loss)
        self.dice.update_state(dice)
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, data):
        x, y = data
        loss, dice = self.objective(y, self(x, training=False))
        self.total.update_state(loss)
        self.dice.update_state(dice)
        return {m.name: m.result() for m in self.metrics}


if __name__ == "__main__":
    keras.utils.set_random_seed(40)
    x, y = cubes(CUBES, 1)
    xv, yv = cubes(4, 2)
    net = VoidNet(*unet())
    net.compile(optimizer=keras.optimizers.Adam(3e-3))
    train = (
        tf.data.Dataset.from_tensor_slices((x, y)).shuffle(CUBES, seed=0).batch(BATCH).prefetch(1)
    )
    net.fit(train, epochs=5, validation_data=(xv, yv), validation_batch_size=2, verbose=2)
