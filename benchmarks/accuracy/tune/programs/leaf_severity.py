"""Grades disease severity on leaf crops (ordinal target, 4 grades)."""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras

SIDE = 48
GRADES = 4
BATCH = 48
EPOCHS = 9


def leaf_crops(n, seed):
    rng = np.random.default_rng(seed)
    grade = rng.integers(0, GRADES, n)
    img = rng.uniform(0.3, 0.5, (n, SIDE, SIDE, 3)).astype(np.float32)
    for i in range(n):
        for _ in range(3 * grade[i]):
            r, c = rng.integers(0, SIDE - 6, 2)
            img[i, r : r + 6, c : c + 6] *= (1.4, 0.8, 0.5)
    return (img * 255).clip(0, 255).astype(np.uint8), grade.astype(np.int32)


def to_ordinal(img, grade):
    img = tf.cast(img, tf.float32) / 255.0
    target = tf.cast(tf.range(GRADES - 1) < grade, tf.float32)
    return img, target


def jitter(img, target):
    n = tf.shape(img)[0]
    img = tf.image.random_flip_left_right(img)
    img += tf.random.uniform((n, 1, 1, 1), -0.1, 0.1)
    img *= tf.random.uniform((n, 1, 1, 3), 0.9, 1.1)
    return img, target


class WithinOneGrade(keras.metrics.Metric):
    def __init__(self, name="within_one", **kwargs):
        super().__init__(name=name, **kwargs)
        self.hits = self.add_weight(name="hits", initializer="zeros")
        self.seen = self.add_weight(name="seen", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        diff = tf.abs(tf.reduce_sum(y_true, 1) - tf.reduce_sum(tf.cast(y_pred > 0, tf.float32), 1))
        self.hits.assign_add(tf.reduce_sum(tf.cast(diff <= 1, tf.float32)))
        self.seen.assign_add(tf.cast(tf.size(diff), tf.float32))

    def result(self):
        return self.hits / tf.maximum(self.seen, 1.0)

    def reset_state(self):
        self.hits.assign(0.0)
        self.seen.assign(0.0)


class StepJournal(keras.callbacks.Callback):
    """Keeps every batch loss and writes them out when an epoch is over."""

    def __init__(self, path):
        super().__init__()
        self.path = path
        self.losses = []

    def on_train_batch_end(self, batch, logs=None):
        self.losses.append(float(logs["loss"]))
        if not np.isfinite(self.losses[-1]):
            self.model.stop_training = True

    def on_epoch_end(self, epoch, logs=None):
        with open(self.path, "a") as f:
            f.writelines(f"{epoch}\t{v:.5f}\n" for v in self.losses)
        self.losses.clear()


def build_grader():
    reg = keras.regularizers.L2(1e-5)
    inp = keras.Input((SIDE, SIDE, 3))
    x = inp
    for width in (32, 48, 64):
        x = keras.layers.Conv2D(width, 3, padding="same", kernel_regularizer=reg)(x)
        x = keras.layers.BatchNormalization()(x)
        x = keras.layers.ReLU()(x)
        x = keras.layers.MaxPooling2D()(x)
    x = keras.layers.Flatten()(x)
    x = keras.layers.Dense(64, activation="relu")(x)
    return keras.Model(inp, keras.layers.Dense(GRADES - 1)(x), name="grader")


def main():
    keras.utils.set_random_seed(21)
    img, grade = leaf_crops(2100, 1)
    v_img, v_grade = leaf_crops(96, 2)
    train = (
        tf.data.Dataset.from_tensor_slices((img, grade))
        .map(to_ordinal, num_parallel_calls=tf.data.AUTOTUNE)
        .cache()
        .shuffle(len(img), reshuffle_each_iteration=True)
        .batch(BATCH)
        .map(jitter, num_parallel_calls=tf.data.AUTOTUNE)
        .prefetch(tf.data.AUTOTUNE)
    )
    valid = tf.data.Dataset.from_tensor_slices((v_img, v_grade)).map(to_ordinal).batch(96).cache()
    grader = build_grader()
    grader.compile(
        optimizer=keras.optimizers.Adam(8e-4),
        loss=keras.losses.BinaryCrossentropy(from_logits=True),
        metrics=[WithinOneGrade()],
    )
    with tempfile.TemporaryDirectory() as work:
        cbs = [
            StepJournal(os.path.join(work, "journal.tsv")),
            keras.callbacks.ModelCheckpoint(
                os.path.join(work, "grader.weights.h5"), save_weights_only=True
            ),
            keras.callbacks.CSVLogger(os.path.join(work, "epochs.csv")),
            keras.callbacks.LearningRateScheduler(lambda e, lr: lr * (0.8 if e > 5 else 1.0)),
            keras.callbacks.TerminateOnNaN(),
        ]
        grader.fit(train, validation_data=valid, epochs=EPOCHS, callbacks=cbs, verbose=2)


if __name__ == "__main__":
    main()
