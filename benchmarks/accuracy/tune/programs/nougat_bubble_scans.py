"""Bubbles in nougat: share of air in a slice, from CT scans.

First small batches on the easy bars, later larger batches on all of them.
An averaged copy of the weights is what the factory gets.
"""

import pathlib
import tempfile

import keras
import numpy as np
import tensorflow as tf

SIDE = 24
PHASES = [  # batch size, epochs, learning rate, share of the bars
    (32, 3, 2e-3, 0.5),
    (64, 3, 1.5e-3, 1.0),
    (128, 3, 1e-3, 1.0),
]


def scan_bars(n, rng):
    yy, xx = np.mgrid[0:SIDE, 0:SIDE].astype(np.float32)
    scans = np.full((n, SIDE, SIDE), 0.8, np.float32)
    bubbles = rng.integers(2, 18, n)
    for k in range(18):
        cx, cy = rng.uniform(0, SIDE, (2, n, 1, 1)).astype(np.float32)
        r = rng.uniform(1.0, 4.0, (n, 1, 1)).astype(np.float32)
        inside = (xx - cx) ** 2 + (yy - cy) ** 2 < r**2
        scans[inside & (k < bubbles)[:, None, None]] = 0.1
    air = (scans < 0.5).mean((1, 2)).astype(np.float32)
    scans += rng.normal(0, 0.15, scans.shape).astype(np.float32)
    order = np.argsort(bubbles, kind="stable")
    return scans[order, ..., None], air[order, None]


class Bars(keras.utils.PyDataset):
    """Batches of bars, mirrored at random."""

    def __init__(self, scans, air, batch, seed):
        super().__init__()
        self.scans, self.air, self.batch = scans, air, batch
        self.rng = np.random.default_rng(seed)
        self.order = self.rng.permutation(len(scans))

    def __len__(self):
        return len(self.scans) // self.batch

    def __getitem__(self, i):
        rows = self.order[i * self.batch : (i + 1) * self.batch]
        x = self.scans[rows]
        if self.rng.random() < 0.5:
            x = x[:, :, ::-1]
        return x, self.air[rows]

    def on_epoch_end(self):
        self.order = self.rng.permutation(len(self.scans))


class AveragedWeights(keras.callbacks.Callback):
    def __init__(self, copy, decay=0.9, every=4):
        super().__init__()
        self.copy, self.decay, self.every = copy, decay, every

    def on_train_batch_end(self, batch, logs=None):
        if batch % self.every == 0:
            for slow, fast in zip(self.copy.variables, self.model.variables):
                slow.assign(self.decay * slow + (1 - self.decay) * fast)


class Notebook(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.rows = []

    def on_train_batch_end(self, batch, logs=None):
        self.rows.append(logs["loss"])

    def on_epoch_end(self, epoch, logs=None):
        tail = np.mean(self.rows[-20:])
        print(f"epoch {epoch + 1}: loss {tail:.5f}, unseen {logs['val_mae']:.4f}")


def bubble_net():
    keep = dict(padding="same", activation="relu")
    return keras.Sequential(
        [
            keras.Input((SIDE, SIDE, 1)),
            keras.layers.Conv2D(12, 3, **keep),
            keras.layers.MaxPooling2D(),
            keras.layers.Conv2D(24, 3, **keep),
            keras.layers.Conv2D(24, 3, **keep),
            keras.layers.GlobalAveragePooling2D(),
            keras.layers.Dense(32, activation="relu"),
            keras.layers.Dense(1),
        ]
    )


def main():
    keras.utils.set_random_seed(30)
    rng = np.random.default_rng(30)
    scans, air = scan_bars(2400, rng)
    unseen = scan_bars(300, rng)
    out = pathlib.Path(tempfile.mkdtemp(prefix="nougat_"))

    net, averaged = bubble_net(), bubble_net()
    averaged.set_weights(net.get_weights())
    net.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse", metrics=["mae"])
    helpers = [
        AveragedWeights(averaged),
        Notebook(),
        keras.callbacks.ModelCheckpoint(
            out / "bubbles_{epoch:02d}.weights.h5", save_weights_only=True
        ),
        keras.callbacks.CSVLogger(out / "epochs.csv", append=True),
    ]

    done = 0
    for batch, epochs, rate, share in PHASES:
        net.optimizer.learning_rate.assign(rate)
        count = int(share * len(scans))
        net.fit(
            Bars(scans[:count], air[:count], batch, seed=batch),
            initial_epoch=done,
            epochs=done + epochs,
            validation_data=unseen,
            validation_batch_size=300,
            callbacks=helpers,
            verbose=0,
        )
        done += epochs

    guess = averaged(tf.constant(unseen[0])).numpy()
    print(f"averaged net: off by {np.abs(guess - unseen[1]).mean():.4f} of the area")
    print(len(list(out.iterdir())), "files in", out)


if __name__ == "__main__":
    main()
