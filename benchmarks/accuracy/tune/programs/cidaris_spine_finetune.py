"""Fine-tune a small backbone on sea-urchin spine cross-sections, with a live contact sheet for the curator."""

import argparse
import os
import tempfile
import threading

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

SPECIES = [
    "cidaris",
    "eucidaris",
    "phyllacanthus",
    "prionocidaris",
    "stereocidaris",
    "histocidaris",
]


def sections(n, size, kinds, seed, noise=0.25):
    """Concentric rings with a species-specific number of ribs."""
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[-1 : 1 : size * 1j, -1 : 1 : size * 1j]
    radius, angle = np.hypot(xx, yy), np.arctan2(yy, xx)
    y = rng.integers(0, kinds, n)
    x = np.empty((n, size, size, 1), "float32")
    for i in range(n):
        ribs, rings = 4 + 3 * y[i], 3 + y[i] % 3 + rng.normal() * 0.3
        x[i, ..., 0] = (
            np.cos(ribs * angle + rng.random() * 6) * np.cos(rings * 6 * radius) * (radius < 0.9)
        )
    return x + noise * rng.normal(size=x.shape).astype("float32"), y.astype("int32")


def backbone(size):
    inp = keras.Input((size, size, 1))
    h = inp
    for width, stride in ((24, 1), (32, 2), (48, 2), (64, 2)):
        h = layers.Conv2D(width, 3, strides=stride, padding="same", use_bias=False)(h)
        h = layers.BatchNormalization(momentum=0.9)(h)
        h = layers.Activation("relu")(h)
    return keras.Model(inp, layers.GlobalAveragePooling2D()(h), name="backbone")


class ContactSheet(threading.Thread):
    """Renders tiles of the collection, sharpened and tone-mapped, for the reading-room screen."""

    def __init__(self, images, folder):
        super().__init__(daemon=True)
        self.images, self.folder = images, folder
        self.done = threading.Event()
        self.version = 0

    def tile(self, image):
        flat = image[..., 0]
        for _ in range(6):
            around = sum(np.roll(flat, s, a) for s in (-1, 1) for a in (0, 1)) / 4
            flat = flat + 0.3 * (flat - around)
            flat = np.clip(flat, -3, 3)
        return (127 * (1 + np.tanh(flat))).astype("uint8")

    def render(self):
        tiles = np.stack([self.tile(im) for im in self.images])
        rows = [np.concatenate(tiles[i : i + 16], axis=1) for i in range(0, len(tiles) - 15, 16)]
        return np.concatenate(rows, axis=0)

    def run(self):
        while not self.done.is_set():
            sheet = self.render()
            np.save(os.path.join(self.folder, "sheet.npy"), sheet)
            self.version += 1


class Confusions(keras.callbacks.Callback):
    """Keeps the pairs of species that get mixed up; one specimen after the other, as they lie in the drawer."""

    def __init__(self, x, y, path):
        super().__init__()
        self.x, self.y, self.path = x, y, path

    def on_epoch_end(self, epoch, logs=None):
        table = np.zeros((len(SPECIES), len(SPECIES)), int)
        drawers = min(epoch + 1, 10) * 2
        for image, kind in zip(self.x[:drawers], self.y[:drawers]):
            probs = self.model.predict(image[None], verbose=0)[0]
            table[kind, probs.argmax()] += 1
        np.savetxt(self.path, table, fmt="%d")
        logs["mixups"] = int(table.sum() - np.trace(table))


def main():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--size", type=int, default=48)
    ap.add_argument("--pretrain-epochs", type=int, default=2)
    ap.add_argument("--epochs", type=int, default=9)
    ap.add_argument("--batch", type=int, default=32)
    args = ap.parse_args()
    keras.utils.set_random_seed(31)
    out = tempfile.mkdtemp(prefix="cidaris_")

    body = backbone(args.size)
    shells, genus = sections(512, args.size, 4, seed=1, noise=0.1)
    teacher = keras.Sequential([body, layers.Dense(4, activation="softmax")])
    teacher.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    teacher.fit(shells, genus, epochs=args.pretrain_epochs, batch_size=args.batch, verbose=2)

    x, y = sections(1100, args.size, len(SPECIES), seed=2)
    cut = 896
    for layer in body.layers[:3]:
        layer.trainable = False
    student = keras.Sequential(
        [body, layers.Dropout(0.2), layers.Dense(len(SPECIES), activation="softmax")]
    )
    student.compile(
        keras.optimizers.Adam(1.5e-3), "sparse_categorical_crossentropy", metrics=["accuracy"]
    )

    sheet = ContactSheet(x[:320], out)
    sheet.start()
    student.fit(
        x[:cut],
        y[:cut],
        validation_data=(x[cut:], y[cut:]),
        epochs=args.epochs,
        batch_size=args.batch,
        callbacks=[
            Confusions(x[cut:], y[cut:], os.path.join(out, "mixups.txt")),
            keras.callbacks.CSVLogger(os.path.join(out, "log.csv")),
        ],
        verbose=2,
    )
    sheet.done.set()
    sheet.join()
    loss, acc = student.evaluate(x[cut:], y[cut:], verbose=0)
    print(f"held-out loss {loss:.3f} accuracy {acc:.3f}; sheets drawn: {sheet.version}")


if __name__ == "__main__":
    main()
