"""Multi-head street scene tagger: a pretrained stem, a fresh neck and heads.

In this stage the stem stays as it came from the first stage and only the
neck with its three heads (scene, weather, time of day) is fitted.
"""

import json
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras

SIDE = 40
HEADS = {"scene": 6, "weather": 4, "daytime": 3}


def street_images(n=1280, seed=8):
    rng = np.random.default_rng(seed)
    img = rng.normal(0, 1, (n, SIDE, SIDE, 3)).astype(np.float32)
    tags = {k: rng.integers(0, c, n).astype(np.int32) for k, c in HEADS.items()}
    img[..., 0] += tags["scene"][:, None, None] * 0.3
    img[..., 1] -= tags["weather"][:, None, None] * 0.3
    img[..., 2] += tags["daytime"][:, None, None] * 0.4
    return img, tags


def make_stem():
    stem = keras.Sequential(
        [
            keras.layers.Conv2D(24, 3, strides=2, padding="same", activation="relu"),
            keras.layers.Conv2D(32, 3, padding="same", activation="relu"),
            keras.layers.Conv2D(24, 3, padding="same", activation="relu"),
        ],
        name="stem",
    )
    stem.build((None, SIDE, SIDE, 3))
    return stem


def make_neck():
    neck = keras.Sequential(
        [
            keras.layers.Conv2D(48, 3, strides=2, padding="same", activation="relu"),
            keras.layers.Conv2D(64, 3, padding="same", activation="relu"),
            keras.layers.GlobalAveragePooling2D(),
            keras.layers.Dense(64, activation="relu"),
        ],
        name="neck",
    )
    neck.build((None, SIDE // 2, SIDE // 2, 24))
    return neck


class StreetTagger(keras.Model):
    def __init__(self):
        super().__init__()
        self.stem = make_stem()
        self.neck = make_neck()
        self.outs = {k: keras.layers.Dense(c, name=k) for k, c in HEADS.items()}
        for layer in self.outs.values():
            layer.build((None, 64))
        self.loss_track = keras.metrics.Mean(name="loss")
        self.acc_track = {
            k: keras.metrics.SparseCategoricalAccuracy(name=f"{k}_acc") for k in HEADS
        }

    @property
    def metrics(self):
        return [self.loss_track, *self.acc_track.values()]

    def call(self, img, training=False):
        feat = self.neck(self.stem(img, training=training), training=training)
        return {k: layer(feat) for k, layer in self.outs.items()}

    def fresh_variables(self):
        picked = list(self.neck.trainable_variables)
        for layer in self.outs.values():
            picked += layer.trainable_variables
        return picked

    def train_step(self, data):
        img, tags = data
        with tf.GradientTape() as tape:
            logits = self(img, training=True)
            loss = 0.0
            for k in HEADS:
                loss += tf.reduce_mean(
                    tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tags[k], logits=logits[k])
                )
        wanted = self.trainable_variables
        grads = tape.gradient(loss, wanted)
        grads, _ = tf.clip_by_global_norm(grads, 5.0)
        fresh = {id(v) for v in self.fresh_variables()}
        pairs = [(g, v) for g, v in zip(grads, wanted) if id(v) in fresh]
        self.optimizer.apply_gradients(pairs)
        self.loss_track.update_state(loss)
        for k, m in self.acc_track.items():
            m.update_state(tags[k], logits[k])
        return {m.name: m.result() for m in self.metrics}


class CurveFile(keras.callbacks.Callback):
    """Curves for the dashboard, which polls one JSON document."""

    def __init__(self, path):
        super().__init__()
        self.path = path
        self.points = []

    def on_train_batch_end(self, batch, logs=None):
        point = {k: round(float(v), 5) for k, v in logs.items()}
        point["step"] = len(self.points)
        self.points.append(point)
        with open(self.path, "w") as f:
            json.dump({"run": "street", "points": self.points}, f, indent=1)


def main():
    keras.utils.set_random_seed(5)
    img, tags = street_images()
    data = (
        tf.data.Dataset.from_tensor_slices((img, tags))
        .cache()
        .shuffle(len(img))
        .batch(24, drop_remainder=True)
        .prefetch(tf.data.AUTOTUNE)
    )
    tagger = StreetTagger()
    tagger.compile(optimizer=keras.optimizers.Adam(1e-3))
    with tempfile.TemporaryDirectory() as work:
        tagger.fit(
            data, epochs=23, verbose=2, callbacks=[CurveFile(os.path.join(work, "curves.json"))]
        )


if __name__ == "__main__":
    main()
