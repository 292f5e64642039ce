"""Insects in amber: first the head, then the upper half of the backbone."""

import argparse
import os
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

ORDERS = ("diptera", "coleoptera", "hymenoptera", "hemiptera", "araneae")


def scans(n, size, seed, texture=77):
    rng = np.random.default_rng(seed)
    shapes = np.random.default_rng(texture).normal(size=(len(ORDERS), 8, 8, 3))
    y = rng.integers(0, len(ORDERS), n)
    big = np.repeat(np.repeat(shapes, size // 8, 1), size // 8, 2)
    x = big[y] * rng.uniform(0.3, 1.2, (n, 1, 1, 1))
    x = x + rng.normal(0, 1.0, x.shape)
    return x.astype("float32"), y.astype("int64")


def fixed_options():
    options = tf.data.Options()
    options.autotune.enabled = False
    return options


def backbone(size):
    inp = keras.Input((size, size, 3))
    x = layers.Conv2D(16, 5, strides=2, padding="same", activation="relu", name="stem")(inp)
    for i, f in enumerate((32, 48, 64, 96)):
        s = layers.Conv2D(f, 1, strides=1 + i % 2, name=f"skip{i}")(x)
        x = layers.Conv2D(
            f, 3, strides=1 + i % 2, padding="same", activation="relu", name=f"b{i}a"
        )(x)
        x = layers.Conv2D(f, 3, padding="same", name=f"b{i}b")(x)
        x = layers.ReLU()(layers.Add()([x, s]))
    return keras.Model(inp, layers.GlobalAveragePooling2D()(x), name="backbone")


def compile_with(model, lr):
    model.compile(
        optimizer=keras.optimizers.Adam(lr),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )


class Journal(keras.callbacks.Callback):
    def __init__(self, name):
        super().__init__()
        self.name = name
        self.rows = []

    def on_epoch_end(self, epoch, logs=None):
        self.rows.append((self.name, epoch, logs["loss"], logs["val_accuracy"]))
        print(
            f"{self.name:>5} epoch {epoch}: loss {logs['loss']:.3f} val {logs['val_accuracy']:.3f}"
        )


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--size", type=int, default=48)
    ap.add_argument("--head-epochs", type=int, default=4)
    ap.add_argument("--thaw-epochs", type=int, default=4)
    args = ap.parse_args()
    keras.utils.set_random_seed(3)
    x, y = scans(1536, args.size, 1)
    vx, vy = scans(128, args.size, 2)

    def pipeline(a, b, train):
        ds = tf.data.Dataset.from_tensor_slices((a, b))
        if train:
            ds = ds.shuffle(len(a), seed=1)
        ds = ds.batch(64)
        if train:
            ds = ds.map(
                lambda i, l: (i * tf.random.uniform([tf.shape(i)[0], 1, 1, 1], 0.7, 1.3), l),
                num_parallel_calls=2,
            )
        return ds.prefetch(2).with_options(fixed_options())

    train, val = pipeline(x, y, True), pipeline(vx, vy, False)

    base = backbone(args.size)
    px, py = scans(1536, args.size, 5, texture=78)
    photos = keras.Sequential([base, layers.Dense(len(ORDERS))])
    compile_with(photos, 1e-3)
    photos.fit(
        pipeline(px, py, True), epochs=2, verbose=0, callbacks=[keras.callbacks.TerminateOnNaN()]
    )

    base.trainable = False
    model = keras.Sequential([base, layers.Dropout(0.2), layers.Dense(len(ORDERS))])
    compile_with(model, 3e-3)
    first = Journal("head")
    model.fit(train, validation_data=val, epochs=args.head_epochs, verbose=0, callbacks=[first])

    base.trainable = True
    for layer in base.layers:
        if layer.name in ("stem", "skip0", "b0a", "b0b"):
            layer.trainable = False
    compile_with(model, 1e-3)
    second = Journal("thaw")
    best = os.path.join(tempfile.mkdtemp(), "amber.weights.h5")
    model.fit(
        train,
        validation_data=val,
        verbose=0,
        epochs=args.thaw_epochs,
        callbacks=[
            second,
            keras.callbacks.ModelCheckpoint(
                best, save_weights_only=True, save_best_only=True, monitor="val_accuracy"
            ),
            keras.callbacks.EarlyStopping(patience=4, restore_best_weights=True),
        ],
    )
    print("gain:", second.rows[-1][-1] - first.rows[-1][-1], "params", model.count_params())


if __name__ == "__main__":
    main()
