"""Grade fleeces from fibre histograms: Keras fit in stages with a bigger batch in each."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import argparse
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras

GRADES = 7
BINS = 128


def fleeces(n, seed):
    rng = np.random.default_rng(seed)
    grid = np.linspace(10, 45, BINS)
    y = rng.integers(0, GRADES, n)
    mean = 17 + 2.2 * y + rng.normal(0, 1.3, n)
    cv = rng.uniform(0.15, 0.3, n)
    x = np.exp(-0.5 * ((grid - mean[:, None]) / (cv * mean)[:, None]) ** 2)
    x += rng.normal(0, 0.1, x.shape)
    return x.astype(np.float32), y.astype(np.int32)


def grader(width):
    inp = keras.Input((BINS,))
    h = keras.layers.Dense(width, activation="relu")(inp)
    for _ in range(3):
        r = keras.layers.Dense(width, activation="relu")(h)
        h = keras.layers.Add()([h, r])
    h = keras.layers.Dropout(0.2)(h)
    return keras.Model(inp, keras.layers.Dense(GRADES)(h))


class LastLine(keras.callbacks.Callback):
    def __init__(self, stage):
        super().__init__()
        self.stage = stage

    def on_epoch_end(self, epoch, logs=None):
        print(f"  [{self.stage}] epoch {epoch} loss {logs['loss']:.4f} val {logs['val_loss']:.4f}")


def as_dataset(x, y, batch, seed=None):
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    if seed is not None:
        ds = ds.shuffle(len(x), seed=seed)
    return ds.batch(batch, num_parallel_calls=2, drop_remainder=seed is not None).prefetch(2)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--width", type=int, default=768)
    ap.add_argument("--epochs", type=int, default=4)
    args = ap.parse_args()
    keras.utils.set_random_seed(71)
    x, y = fleeces(16000, 71)
    xv, yv = fleeces(1000, 72)
    model = grader(args.width)
    model.compile(
        keras.optimizers.SGD(0.02, momentum=0.9),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    val = as_dataset(xv, yv, 1000).cache()
    t0 = time.time()
    for batch in (512, 1024, 2048):
        train = as_dataset(x, y, batch, seed=batch)
        stop = keras.callbacks.EarlyStopping("val_loss", patience=2, restore_best_weights=True)
        hist = model.fit(
            train,
            validation_data=val,
            epochs=args.epochs,
            verbose=0,
            callbacks=[stop, LastLine(f"batch {batch}")],
        )
        print(
            f"stage {batch}: {len(hist.epoch)} epochs, "
            f"val accuracy {max(hist.history['val_accuracy']):.3f}, {time.time() - t0:.1f}s"
        )
    print("TRAIN_SECONDS %.2f" % (time.time() - t0))


if __name__ == "__main__":
    main()
