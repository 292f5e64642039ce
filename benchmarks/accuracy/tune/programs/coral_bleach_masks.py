"""Masks of bleached coral on reef quadrat photographs (small U-Net, Keras fit)."""

import pathlib
import tempfile
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

SIDE = 64
EPOCHS = 5
BATCH = 16


def quadrats(n, rng):
    yy, xx = np.mgrid[0:SIDE, 0:SIDE]
    img = rng.normal(0.35, 0.08, (n, SIDE, SIDE, 3))
    mask = np.zeros((n, SIDE, SIDE, 1))
    for k in range(5):
        cx, cy = rng.uniform(0, SIDE, (2, n, 1, 1))
        r = rng.uniform(5, 14, (n, 1, 1))
        wob = 1 + 0.25 * np.sin(3 * np.arctan2(yy - cy, xx - cx) + k)
        blob = ((xx - cx) ** 2 + (yy - cy) ** 2 < (r * wob) ** 2)[..., None]
        bleached = rng.random((n, 1, 1, 1)) < 0.5
        tone = np.where(bleached, [0.85, 0.85, 0.8], [0.55, 0.4, 0.25])
        img = np.where(blob, tone + rng.normal(0, 0.05, img.shape), img)
        mask = np.where(blob, bleached, mask)
    return img.astype("float32"), mask.astype("float32")


def flip(img, mask):
    both = tf.concat([img, mask], -1)
    both = tf.image.random_flip_left_right(both)
    both = tf.image.random_flip_up_down(both)
    return both[..., :3], both[..., 3:]


def double_conv(x, width):
    for _ in range(2):
        x = layers.Conv2D(width, 3, padding="same", activation="relu")(x)
    return x


def unet(widths=(12, 24, 40)):
    inp = keras.Input((SIDE, SIDE, 3))
    skips, x = [], inp
    for w in widths[:-1]:
        x = double_conv(x, w)
        skips.append(x)
        x = layers.MaxPooling2D()(x)
    x = double_conv(x, widths[-1])
    for w, skip in zip(reversed(widths[:-1]), reversed(skips)):
        x = layers.UpSampling2D()(x)
        x = layers.Concatenate()([x, skip])
        x = double_conv(x, w)
    return keras.Model(inp, layers.Conv2D(1, 1)(x), name="coral_unet")


def soft_dice(y, logit):
    p = tf.sigmoid(logit)
    inter = tf.reduce_sum(y * p, axis=(1, 2, 3))
    total = tf.reduce_sum(y + p, axis=(1, 2, 3))
    return 1.0 - (2.0 * inter + 1.0) / (total + 1.0)


def seg_loss(y, logit):
    bce = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(y, logit), axis=(1, 2, 3))
    return bce + 0.5 * soft_dice(y, logit)


class EpochNote(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        lr = float(self.model.optimizer.learning_rate)
        print(f"  [{epoch}] lr {lr:.1e} val dice loss {logs['val_soft_dice']:.3f}")


def main():
    keras.utils.set_random_seed(31)
    rng = np.random.default_rng(31)
    xi, xm = quadrats(640, rng)
    vi, vm = quadrats(96, rng)
    train = (
        tf.data.Dataset.from_tensor_slices((xi, xm))
        .cache()
        .shuffle(640, seed=4)
        .map(flip, num_parallel_calls=tf.data.AUTOTUNE)
        .batch(BATCH, drop_remainder=True)
        .prefetch(tf.data.AUTOTUNE)
    )
    val = tf.data.Dataset.from_tensor_slices((vi, vm)).batch(32).cache()

    model = unet()
    model.compile(keras.optimizers.Adam(2e-3), seg_loss, metrics=[soft_dice], jit_compile=False)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="coral_"))
    callbacks = [
        EpochNote(),
        keras.callbacks.CSVLogger(str(folder / "log.csv")),
        keras.callbacks.ModelCheckpoint(
            str(folder / "best.weights.h5"),
            monitor="val_loss",
            save_best_only=True,
            save_weights_only=True,
        ),
        keras.callbacks.ReduceLROnPlateau(factor=0.5, patience=1),
        keras.callbacks.EarlyStopping(patience=3),
    ]
    begin = time.time()
    model.fit(train, validation_data=val, epochs=EPOCHS, callbacks=callbacks, verbose=2)
    print(f"train {time.time() - begin:.2f}s")
    model.load_weights(str(folder / "best.weights.h5"))
    print("best", model.evaluate(val, verbose=0, return_dict=True))


if __name__ == "__main__":
    main()
