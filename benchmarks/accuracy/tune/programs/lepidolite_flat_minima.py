"""Grades lepidolite thin sections (polarised light, 3 channels) with a flat-minimum search.
Two passes each batch, stops when the hold-out no longer improves."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.keras import callbacks, layers, metrics

SEED = 1861
SIDE = 36
GRADES = 5


def sections(rng, count):
    """Striped mica flakes; the grade sets stripe distance and pleochroism."""
    grade = rng.integers(0, GRADES, count)
    yy, xx = np.mgrid[:SIDE, :SIDE] / SIDE
    angle = rng.uniform(0, np.pi, count)[:, None, None]
    stripes = np.sin((xx * np.cos(angle) + yy * np.sin(angle)) * (9 + 5 * grade)[:, None, None])
    tint = np.stack([0.5 + 0.06 * grade, 0.4 + 0 * grade, 0.7 - 0.05 * grade], -1)
    picture = (
        tint[:, None, None]
        + 0.25 * stripes[..., None]
        + 0.33 * rng.standard_normal((count, SIDE, SIDE, 3))
    )
    return picture.astype(np.float32), grade.astype(np.int32)


class FlatMinimum(tf.keras.Model):
    """Climbs rho along the gradient, takes the gradient there, comes back and descends."""

    def __init__(self, net, rho=0.04):
        super().__init__()
        self.net, self.rho = net, rho
        self.loss_now = metrics.Mean(name="loss")
        self.sharpness = metrics.Mean(name="sharpness")
        self.hits = metrics.SparseCategoricalAccuracy(name="accuracy")

    @property
    def metrics(self):
        return [self.loss_now, self.sharpness, self.hits]

    def call(self, x, training=False):
        return self.net(x, training=training)

    def _slope(self, x, y):
        with tf.GradientTape() as tape:
            logits = self.net(x, training=True)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
        return loss, logits, tape.gradient(loss, self.net.trainable_variables)

    def train_step(self, data):
        x, y = data
        weights = self.net.trainable_variables
        loss, logits, first = self._slope(x, y)
        size = self.rho / (tf.linalg.global_norm(first) + 1e-12)
        climb = [g * size for g in first]
        for w, e in zip(weights, climb):
            w.assign_add(e)
        above, _, second = self._slope(x, y)
        for w, e in zip(weights, climb):
            w.assign_sub(e)
        self.optimizer.apply_gradients(zip(second, weights))
        self.loss_now.update_state(loss)
        self.sharpness.update_state(above - loss)
        self.hits.update_state(y, logits)
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, data):
        x, y = data
        logits = self.net(x, training=False)
        self.loss_now.update_state(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
        self.hits.update_state(y, logits)
        return {"loss": self.loss_now.result(), "accuracy": self.hits.result()}


def microscope():
    return tf.keras.Sequential(
        [
            layers.Input((SIDE, SIDE, 3)),
            layers.Conv2D(24, 5, strides=2, padding="same", activation="relu"),
            layers.Conv2D(48, 3, padding="same", activation="relu"),
            layers.MaxPool2D(),
            layers.Conv2D(64, 3, padding="same", activation="relu"),
            layers.GlobalAveragePooling2D(),
            layers.Dense(64, activation="relu"),
            layers.Dense(GRADES),
        ]
    )


def main():
    tf.keras.utils.set_random_seed(SEED)
    rng = np.random.default_rng(SEED)
    train, hold = sections(rng, 1152), sections(rng, 256)
    ds = (
        tf.data.Dataset.from_tensor_slices(train)
        .cache()
        .shuffle(1152, seed=SEED)
        .batch(64)
        .prefetch(2)
    )
    hold_ds = tf.data.Dataset.from_tensor_slices(hold).batch(128).cache()
    model = FlatMinimum(microscope())
    model.compile(optimizer=tf.keras.optimizers.AdamW(2e-3), jit_compile=False)
    out = os.path.join(tempfile.mkdtemp(), "grader.weights.h5")
    watch = [
        callbacks.EarlyStopping("val_loss", patience=3, restore_best_weights=True),
        callbacks.ReduceLROnPlateau("val_loss", factor=0.5, patience=2, verbose=1),
    ]
    history = model.fit(ds, validation_data=hold_ds, epochs=13, callbacks=watch, verbose=2)
    model.net.save_weights(out)
    best = int(np.argmin(history.history["val_loss"]))
    print(
        "best round", best, "accuracy", round(history.history["val_accuracy"][best], 3), "->", out
    )


if __name__ == "__main__":
    main()
