"""Five playing traits of an oboe reed from a back-lit scan of its scrape."""

import argparse
import csv
import os
import tempfile
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

TRAITS = {"response": 1.0, "pitch": 0.8, "darkness": 0.5, "resistance": 0.7, "stability": 0.4}


def scan_reeds(n, size, rng):
    yy, xx = np.mgrid[0:size, 0:size].astype("float32") / size
    tip = rng.uniform(0.08, 0.3, (n, 1, 1))
    heart = rng.uniform(0.4, 0.65, (n, 1, 1))
    spine = rng.uniform(0.04, 0.2, (n, 1, 1))
    skew = rng.normal(0, 0.06, (n, 1, 1))
    rails = rng.uniform(0.1, 0.6, (n, 1, 1))
    img = np.exp(-(((xx - 0.5 - skew) / spine) ** 2)) * (yy > tip)
    img += 0.6 * np.exp(-(((yy - heart) / 0.15) ** 2))
    img += rails * ((xx < 0.12) | (xx > 0.88))
    img += rng.normal(0, 0.08, img.shape)
    y = np.stack(
        [
            6 * tip + 2 * spine,
            4 * heart - 3 * tip,
            5 * spine + rails,
            3 * rails + 4 * heart,
            8 * np.abs(skew) + spine,
        ],
        -1,
    ).reshape(n, 5)
    y = (y - y.mean(0)) / y.std(0)
    return img[..., None].astype("float32"), y.astype("float32")


def trunk(size, width):
    inp = keras.Input((size, size, 1))
    x = inp
    for mult in (1, 2, 3):
        x = layers.Conv2D(width * mult, 3, padding="same", activation="relu")(x)
        x = layers.Conv2D(width * mult, 3, padding="same", activation="relu")(x)
        x = layers.MaxPooling2D()(x)
    x = layers.Flatten()(x)
    return keras.Model(inp, layers.Dense(64, activation="relu")(x), name="trunk")


class ReedModel(keras.Model):
    def __init__(self, size, width=10, **kw):
        super().__init__(**kw)
        self.trunk = trunk(size, width)
        self.heads = {
            name: keras.Sequential(
                [layers.Dense(24, activation="tanh"), layers.Dense(1)], name=name
            )
            for name in TRAITS
        }
        self.total = keras.metrics.Mean(name="loss")

    def call(self, scan, training=False):
        z = self.trunk(scan, training=training)
        return tf.concat([self.heads[name](z) for name in TRAITS], axis=-1)

    def trait_losses(self, y, pred):
        err = keras.losses.huber(y[..., None], pred[..., None])
        return tf.unstack(tf.reduce_mean(err, axis=0))

    def train_step(self, data):
        scan, y = data
        variables = self.trainable_variables
        with tf.GradientTape(persistent=True) as tape:
            losses = self.trait_losses(y, self(scan, training=True))
            weighted = [w * l for w, l in zip(TRAITS.values(), losses)]
        grads = [tf.zeros_like(v) for v in variables]
        for part in weighted:
            part_grads = tape.gradient(part, variables)
            grads = [g if p is None else g + p for g, p in zip(grads, part_grads)]
        self.optimizer.apply_gradients(zip(grads, variables))
        self.total.update_state(tf.add_n(weighted))
        return {"loss": self.total.result()}

    def test_step(self, data):
        scan, y = data
        losses = self.trait_losses(y, self(scan, training=False))
        self.total.update_state(tf.add_n([w * l for w, l in zip(TRAITS.values(), losses)]))
        return {"loss": self.total.result()}

    @property
    def metrics(self):
        return [self.total]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--size", type=int, default=48)
    ap.add_argument("--reeds", type=int, default=960)
    ap.add_argument("--epochs", type=int, default=7)
    args = ap.parse_args()
    keras.utils.set_random_seed(77)
    rng = np.random.default_rng(77)
    x, y = scan_reeds(args.reeds, args.size, rng)
    xv, yv = scan_reeds(192, args.size, rng)
    batches = (
        tf.data.Dataset.from_tensor_slices((x, y))
        .shuffle(args.reeds, seed=1)
        .batch(32, drop_remainder=True)
        .prefetch(tf.data.AUTOTUNE)
    )
    held_out = tf.data.Dataset.from_tensor_slices((xv, yv)).batch(64)

    model = ReedModel(args.size)
    model(x[:2])
    rate = keras.optimizers.schedules.CosineDecay(2e-3, args.epochs * len(batches))
    model.compile(optimizer=keras.optimizers.Adam(rate), jit_compile=False)
    begin = time.time()
    hist = model.fit(batches, validation_data=held_out, epochs=args.epochs, verbose=2)
    print(f"train {time.time() - begin:.2f}s")

    pred = model.predict(xv, batch_size=64, verbose=0)
    path = os.path.join(tempfile.mkdtemp(), "reeds.csv")
    with open(path, "w", newline="") as f:
        w = csv.writer(f)
        w.writerow(TRAITS)
        w.writerows(np.round(pred, 3).tolist())
    for k, name in enumerate(TRAITS):
        print(f"  {name:11s} r = {np.corrcoef(pred[:, k], yv[:, k])[0, 1]:.3f}")
    print("val losses", np.round(hist.history["val_loss"], 4))


if __name__ == "__main__":
    main()
