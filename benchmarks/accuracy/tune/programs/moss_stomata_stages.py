"""Stomata on moss capsules: closed / open / absent.

Stage 1 fits the classifier on frozen features, stage 2 trains the whole network with
a bigger image and a smaller learning rate towards the end.  Best weights are kept.
"""

import os
import tempfile
import time

import keras
import numpy as np
import tensorflow as tf
from keras import layers

SEED = 404
STAGES = (
    # name, image size, frozen?, epochs, lr
    ("head", 48, True, 5, 3e-3),
    ("whole", 112, False, 12, 1e-3),
)
BATCH = 32


def capsules(n, size, rng):
    y = rng.integers(0, 3, n)
    yy, xx = np.mgrid[:size, :size].astype("float32") / size - 0.5
    cx, cy = rng.uniform(-0.2, 0.2, (2, n, 1, 1)).astype("float32")
    r = np.sqrt((xx - cx) ** 2 + (yy - cy) ** 2)
    ring = np.exp(-(((r - 0.18) / 0.03) ** 2))
    pore = np.exp(-((r / 0.07) ** 2))
    img = np.where((y < 2)[:, None, None], ring, 0) - np.where((y == 1)[:, None, None], pore, 0)
    img = img + rng.normal(0, 1.2, img.shape)
    return img[..., None].astype("float32"), y.astype("int32")


def backbone():
    return keras.Sequential(
        [
            keras.Input((None, None, 1)),
            layers.Conv2D(24, 5, strides=2, padding="same", activation="relu"),
            layers.Conv2D(40, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(64, 3, padding="same", activation="relu"),
            layers.Conv2D(64, 3, padding="same", activation="relu"),
            layers.GlobalMaxPooling2D(),
        ],
        name="backbone",
    )


def endless(x, y):
    ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x), seed=SEED)
    return ds.repeat().batch(BATCH).prefetch(2)


class StageClock(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        self.at = time.perf_counter()

    def on_epoch_end(self, epoch, logs=None):
        print(
            "    %.2f s, loss %.3f, val_loss %s"
            % (
                time.perf_counter() - self.at,
                logs["loss"],
                "%.3f" % logs["val_loss"] if "val_loss" in logs else "-",
            )
        )


def main():
    keras.utils.set_random_seed(SEED)
    rng = np.random.default_rng(SEED)
    folder = tempfile.mkdtemp(prefix="moss_")
    net = backbone()
    model = keras.Sequential([net, layers.Dense(48, activation="relu"), layers.Dense(3)])
    began = time.time()
    for name, size, frozen, epochs, lr in STAGES:
        x, y = capsules(448, size, rng)
        xv, yv = capsules(64, size, rng)
        net.trainable = not frozen
        model.compile(
            keras.optimizers.Adam(lr),
            keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            metrics=["accuracy"],
        )
        print("stage", name)
        if frozen:
            # features never change here, so they are computed once
            f, fv = net.predict(x, verbose=0), net.predict(xv, verbose=0)
            top = keras.Sequential(model.layers[1:])
            top.compile(
                keras.optimizers.Adam(lr),
                keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            )
            top.fit(
                f,
                y,
                batch_size=BATCH,
                epochs=epochs,
                verbose=0,
                callbacks=[StageClock()],
                validation_data=(fv, yv),
                validation_freq=epochs,
            )
            continue
        model.fit(
            endless(x, y),
            steps_per_epoch=len(x) // BATCH,
            epochs=epochs,
            verbose=0,
            validation_data=(xv, yv),
            callbacks=[
                StageClock(),
                keras.callbacks.LearningRateScheduler(
                    lambda e, now: now if e < epochs - 3 else lr / 5
                ),
                keras.callbacks.EarlyStopping(patience=5, restore_best_weights=True),
            ],
        )
    model.save(os.path.join(folder, "moss.keras"))
    loss, acc = model.evaluate(xv, yv, verbose=0)
    print("final loss %.3f accuracy %.3f" % (loss, acc))
    print("train_seconds %.2f" % (time.time() - began))


if __name__ == "__main__":
    main()
