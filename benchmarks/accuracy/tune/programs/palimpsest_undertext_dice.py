"""Find the scraped-off undertext of a palimpsest in multispectral patches (U-net).

Stops early on our own score: Dice of the undertext class on the two held-out folios.
"""

import os
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

BANDS = 5
SIDE = 48


def strokes(rng, n, thick):
    yy, xx = np.mgrid[0:SIDE, 0:SIDE]
    mask = np.zeros((SIDE, SIDE), bool)
    for _ in range(n):
        cy, cx = rng.uniform(0, SIDE, 2)
        ang = rng.uniform(0, np.pi)
        along = (yy - cy) * np.sin(ang) + (xx - cx) * np.cos(ang)
        across = (yy - cy) * np.cos(ang) - (xx - cx) * np.sin(ang)
        mask |= (np.abs(along) < rng.uniform(6, 14)) & (np.abs(across) < thick)
    return mask


def patches(n, rng):
    x = rng.normal(0.7, 0.12, (n, SIDE, SIDE, BANDS)).astype("float32")
    y = np.zeros((n, SIDE, SIDE, 1), "float32")
    fade = np.linspace(0.05, 0.4, BANDS)
    for i in range(n):
        under, over = strokes(rng, 4, 1.5), strokes(rng, 5, 2.0)
        x[i][under] -= fade
        x[i][over] -= 0.5
        y[i, :, :, 0] = under & ~over
    return x, y


def conv(x, ch):
    for _ in range(2):
        x = layers.Conv2D(ch, 3, padding="same", activation="relu")(x)
    return layers.BatchNormalization()(x)


def unet(base=12):
    inp = keras.Input((SIDE, SIDE, BANDS))
    a = conv(inp, base)
    b = conv(layers.MaxPooling2D()(a), base * 2)
    c = conv(layers.MaxPooling2D()(b), base * 4)
    b = conv(layers.concatenate([layers.UpSampling2D()(c), b]), base * 2)
    a = conv(layers.concatenate([layers.UpSampling2D()(b), a]), base)
    return keras.Model(inp, layers.Conv2D(1, 1, activation="sigmoid")(a), name="undertext")


class UndertextDice(keras.metrics.Metric):
    def __init__(self, name="dice", **kw):
        super().__init__(name=name, **kw)
        self.both = self.add_weight(name="both", initializer="zeros")
        self.sums = self.add_weight(name="sums", initializer="zeros")

    def update_state(self, y, p, sample_weight=None):
        hard = keras.ops.cast(p > 0.5, "float32")
        self.both.assign_add(2.0 * keras.ops.sum(hard * y))
        self.sums.assign_add(keras.ops.sum(hard) + keras.ops.sum(y))

    def result(self):
        return self.both / keras.ops.maximum(self.sums, 1.0)


def balanced(y, p):
    weight = 1.0 + 4.0 * y
    ce = -(y * keras.ops.log(p + 1e-6) + (1.0 - y) * keras.ops.log(1.0 - p + 1e-6))
    return keras.ops.mean(weight * ce)


class StopOnDice(keras.callbacks.Callback):
    """Remembers the best folio score and its weights; stops after `patience` epochs."""

    def __init__(self, patience, path):
        super().__init__()
        self.patience, self.path = patience, path
        self.best, self.since, self.history = -1.0, 0, []

    def on_epoch_end(self, epoch, logs=None):
        score = float(logs["val_dice"])
        self.history.append(score)
        if score > self.best:
            self.best, self.since = score, 0
            self.model.save_weights(self.path)
        else:
            self.since += 1
            if self.since >= self.patience:
                print("no better dice for", self.since, "epochs, stopping")
                self.model.stop_training = True

    def on_train_end(self, logs=None):
        self.model.load_weights(self.path)


def turn(x, y):
    both = tf.concat([x, y], -1)
    both = tf.image.random_flip_left_right(both)
    both = tf.image.random_flip_up_down(both)
    return both[..., :BANDS], both[..., BANDS:]


def main():
    keras.utils.set_random_seed(1229)
    rng = np.random.default_rng(1229)
    x, y = patches(420, rng)
    folios = (x[:30], y[:30])
    ds = (
        tf.data.Dataset.from_tensor_slices((x[30:], y[30:]))
        .cache()
        .shuffle(390, seed=3)
        .batch(15, drop_remainder=True)
        .map(turn, num_parallel_calls=1)
        .prefetch(2)
    )
    val = tf.data.Dataset.from_tensor_slices(folios).batch(30).cache()
    model = unet()
    model.compile(keras.optimizers.Adam(3e-3), loss=balanced, metrics=[UndertextDice()])
    stop = StopOnDice(3, os.path.join(tempfile.mkdtemp(), "best.weights.h5"))
    began = time.time()
    model.fit(
        ds,
        validation_data=val,
        epochs=9,
        verbose=2,
        callbacks=[stop, keras.callbacks.TerminateOnNaN()],
    )
    print(
        f"trained for {time.time() - began:.1f} s, best dice {stop.best:.3f} of {len(stop.history)} epochs"
    )


if __name__ == "__main__":
    main()
