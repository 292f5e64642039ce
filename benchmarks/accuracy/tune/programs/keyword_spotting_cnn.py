"""Keyword spotting on synthetic log-mel patches with a small separable CNN."""

import os
import tempfile
import time

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import tensorflow as tf
from keras import layers

SEED = 11
N_TRAIN, N_VAL = 6000, 1000
FRAMES, MELS, WORDS = 48, 32, 12
BATCH = 64
EPOCHS = 14


def make_words(rng):
    t = np.linspace(0, 1, FRAMES)[:, None]
    f = np.linspace(0, 1, MELS)[None, :]
    protos = []
    for _ in range(WORDS):
        img = np.zeros((FRAMES, MELS))
        for _ in range(4):
            c0, c1 = rng.uniform(0, 1, 2)
            slope = rng.normal(0, 0.6)
            img += np.exp(-((f - c1 - slope * (t - c0)) ** 2) / 0.004 - (t - c0) ** 2 / 0.03)
        protos.append(img)
    return np.stack(protos).astype("float32")


def make_split(rng, protos, n):
    y = rng.integers(0, WORDS, n)
    x = protos[y]
    shift = rng.integers(-6, 7, n)
    x = np.stack([np.roll(a, s, axis=0) for a, s in zip(x, shift)])
    x = x + rng.normal(0, 0.6, x.shape)
    return x[..., None].astype("float32"), y.astype("int32")


def sep_block(x, filters, stride, name):
    x = layers.SeparableConv2D(
        filters, 3, strides=stride, padding="same", use_bias=False, name=f"{name}_sep"
    )(x)
    x = layers.BatchNormalization(name=f"{name}_bn")(x)
    return layers.ReLU(name=f"{name}_relu")(x)


def build():
    inp = keras.Input((FRAMES, MELS, 1))
    x = layers.Conv2D(24, 5, strides=2, padding="same", use_bias=False)(inp)
    x = layers.BatchNormalization()(x)
    x = layers.ReLU()(x)
    x = sep_block(x, 48, 1, "b1")
    x = sep_block(x, 64, 2, "b2")
    x = sep_block(x, 64, 1, "b3")
    x = layers.GlobalAveragePooling2D()(x)
    x = layers.Dropout(0.2)(x)
    return keras.Model(inp, layers.Dense(WORDS)(x), name="kws")


@tf.function
def mask_time(x, y):
    start = tf.random.uniform([], 0, FRAMES - 8, tf.int32)
    keep = tf.concat([tf.ones([start]), tf.zeros([8]), tf.ones([FRAMES - 8 - start])], 0)
    return x * keep[None, :, None, None], y


class EpochLog(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        self.t0 = time.time()

    def on_epoch_end(self, epoch, logs=None):
        print(
            f"epoch {epoch:2d} loss {logs['loss']:.4f} acc {logs['accuracy']:.3f} "
            f"val_acc {logs['val_accuracy']:.3f} ({time.time() - self.t0:.1f}s)",
            flush=True,
        )


def main():
    keras.utils.set_random_seed(SEED)
    rng = np.random.default_rng(SEED)
    protos = make_words(rng)
    x_tr, y_tr = make_split(rng, protos, N_TRAIN)
    x_va, y_va = make_split(rng, protos, N_VAL)

    train = (
        tf.data.Dataset.from_tensor_slices((x_tr, y_tr))
        .shuffle(N_TRAIN, seed=SEED)
        .batch(BATCH, drop_remainder=True)
        .map(mask_time, num_parallel_calls=tf.data.AUTOTUNE)
        .prefetch(tf.data.AUTOTUNE)
    )
    val = tf.data.Dataset.from_tensor_slices((x_va, y_va)).batch(256).cache().prefetch(1)

    model = build()
    steps = N_TRAIN // BATCH
    schedule = keras.optimizers.schedules.CosineDecay(
        0.0, EPOCHS * steps - steps, warmup_target=3e-3, warmup_steps=steps, alpha=0.02
    )
    model.compile(
        optimizer=keras.optimizers.AdamW(schedule, weight_decay=1e-4),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    with tempfile.TemporaryDirectory() as work:
        best = os.path.join(work, "best.weights.h5")
        callbacks = [
            EpochLog(),
            keras.callbacks.ModelCheckpoint(
                best, monitor="val_accuracy", save_best_only=True, save_weights_only=True
            ),
            keras.callbacks.TerminateOnNaN(),
        ]
        model.fit(train, validation_data=val, epochs=EPOCHS, callbacks=callbacks, verbose=0)
        model.load_weights(best)
        loss, acc = model.evaluate(val, verbose=0)
    print(f"best checkpoint: val loss {loss:.4f} acc {acc:.3f}")


if __name__ == "__main__":
    main()
