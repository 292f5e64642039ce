"""Workshop attribution of mosaic tesserae: head first, then the upper blocks thaw, then everything; stops early."""

import argparse
import os
import tempfile
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras

SIDE = 32
SHOPS = 6


def tesserae(n, seed):
    rng = np.random.default_rng(seed)
    shop = rng.integers(0, SHOPS, n)
    yy, xx = np.mgrid[0:SIDE, 0:SIDE] / SIDE
    f = (2 + shop)[:, None, None]
    g = np.sin(2 * np.pi * f * xx + rng.uniform(0, 6.28, (n, 1, 1))) * np.cos(
        2 * np.pi * (8 - f) * yy
    )
    img = np.stack([g * a for a in (0.8, 0.5, 0.3)], -1) + rng.normal(0, 0.9, (n, SIDE, SIDE, 3))
    return img.astype("float32"), shop.astype("int32")


def trunk():
    inp = keras.Input((SIDE, SIDE, 3))
    h = inp
    for i, (w, s) in enumerate(((24, 1), (48, 2), (80, 2), (96, 1))):
        h = keras.layers.Conv2D(
            w, 3, strides=s, padding="same", activation="relu", name=f"block{i}"
        )(h)
    return keras.Model(inp, keras.layers.GlobalAveragePooling2D()(h), name="trunk")


class Journal(keras.callbacks.Callback):
    """One line of CSV per epoch."""

    def __init__(self, path):
        super().__init__()
        self.path = path
        self.t = time.time()

    def on_epoch_end(self, epoch, logs=None):
        with open(self.path, "a") as f:
            f.write(
                f"{epoch},{logs['loss']:.5f},{logs['val_loss']:.5f},{time.time() - self.t:.2f}\n"
            )


def set_frozen(base, upto):
    blocks = [l for l in base.layers if l.name.startswith("block")]
    for i, layer in enumerate(blocks):
        layer.trainable = i >= upto


def datasets(batch):
    x, y = tesserae(2200, 90)
    aug = tf.data.Dataset.from_tensor_slices((x[:1800], y[:1800])).cache().shuffle(1800, seed=1)
    aug = aug.batch(batch, drop_remainder=True)
    aug = aug.map(lambda a, b: (tf.image.random_flip_left_right(a), b)).prefetch(3)
    val = tf.data.Dataset.from_tensor_slices((x[1800:], y[1800:])).batch(200).cache()
    return aug, val


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--batch", type=int, default=60)
    ap.add_argument("--patience", type=int, default=3)
    args = ap.parse_args()
    keras.utils.set_random_seed(90)
    folder = tempfile.mkdtemp()
    train, val = datasets(args.batch)

    base = trunk()
    model = keras.Sequential(
        [
            keras.Input((SIDE, SIDE, 3)),
            base,
            keras.layers.Dense(64, activation="relu"),
            keras.layers.Dropout(0.2),
            keras.layers.Dense(SHOPS),
        ]
    )
    journal = Journal(os.path.join(folder, "journal.csv"))
    t0 = time.time()
    done = 0
    for frozen, epochs, lr in ((4, 3, 3e-3), (2, 4, 1e-3), (0, 8, 1e-3)):
        set_frozen(base, frozen)
        model.compile(
            keras.optimizers.Adam(lr),
            keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            metrics=["accuracy"],
        )
        stop = keras.callbacks.EarlyStopping(
            "val_loss", patience=args.patience, restore_best_weights=True
        )
        slow = keras.callbacks.ReduceLROnPlateau("val_loss", factor=0.5, patience=2)
        h = model.fit(
            train,
            validation_data=val,
            initial_epoch=done,
            epochs=done + epochs,
            verbose=0,
            callbacks=[stop, slow, journal],
        )
        done += len(h.epoch)
        print(
            f"{frozen} blocks frozen: {len(h.epoch)} epochs, val accuracy "
            f"{max(h.history['val_accuracy']):.3f}, t={time.time() - t0:.1f}s",
            flush=True,
        )
    model.save_weights(os.path.join(folder, "final.weights.h5"))
    print(f"training {time.time() - t0:.2f} s, journal {journal.path}")


if __name__ == "__main__":
    main()
