"""Age class of scallop shells: warm start on rotations, then head, then the whole network."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras

PIX = 48
AGES = 7
AUTO = tf.data.AUTOTUNE


def photograph(n, seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[:PIX, :PIX] / PIX
    age = rng.integers(0, AGES, n)
    cx = rng.uniform(0.4, 0.6, (n, 1, 1))
    r = np.hypot(xx - cx, yy - 0.9)
    theta = np.arctan2(0.9 - yy, xx - cx)
    rings = np.cos(2 * np.pi * r * (3 + age)[:, None, None] + rng.uniform(0, 1, (n, 1, 1)))
    ribs = 0.3 * np.cos(14 * theta)
    img = (rings + ribs) * (r < 0.8) + rng.normal(0, 0.4, (n, PIX, PIX))
    return np.repeat(img[..., None], 3, -1).astype("float32"), age.astype("int32")


def jitter(x, y):
    x = tf.image.random_brightness(x, 0.2)
    x = tf.roll(x, tf.random.uniform([], -4, 5, tf.int32), axis=2)
    flip = tf.random.uniform([tf.shape(x)[0], 1, 1, 1]) < 0.5
    return tf.where(flip, x[:, :, ::-1], x), y


def turned(x, y):
    k = tf.random.uniform([], 0, 4, tf.int32)
    return tf.image.rot90(x, k), tf.fill([tf.shape(x)[0]], k)


def pipe(x, y, *maps, batch=32, train=True):
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    if train:
        ds = ds.shuffle(len(y), seed=2)
    ds = ds.batch(batch)
    for fn in maps:
        ds = ds.map(fn, num_parallel_calls=AUTO)
    return ds.prefetch(AUTO)


def backbone():
    inp = keras.Input((PIX, PIX, 3))
    x = inp
    for filters, stride in [(24, 2), (48, 1), (48, 2), (96, 1), (96, 2)]:
        x = keras.layers.Conv2D(filters, 3, stride, padding="same", use_bias=False)(x)
        x = keras.layers.BatchNormalization()(x)
        x = keras.layers.ReLU()(x)
    return keras.Model(inp, keras.layers.GlobalAveragePooling2D()(x), name="shell_net")


def headed(body, classes, frozen):
    body.trainable = not frozen
    inp = keras.Input((PIX, PIX, 3))
    x = body(inp, training=False if frozen else None)
    x = keras.layers.Dropout(0.2)(x)
    return keras.Model(inp, keras.layers.Dense(classes)(x))


def compile_with(model, lr):
    model.compile(
        keras.optimizers.Adam(lr),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    return model


def main():
    keras.utils.set_random_seed(4)
    x, y = photograph(1600, 0)
    xv, yv = photograph(400, 1)
    folder = tempfile.mkdtemp(prefix="scallop_")
    valid = pipe(xv, yv, batch=100, train=False)

    body = backbone()
    pretext = compile_with(headed(body, 4, frozen=False), 1e-3)
    pretext.fit(pipe(x, y, turned), epochs=2, verbose=2)

    model = compile_with(headed(body, AGES, frozen=True), 3e-3)
    model.fit(pipe(x, y, jitter), validation_data=valid, epochs=4, verbose=2)

    body.trainable = True
    compile_with(model, 1e-3)
    keep = keras.callbacks.ModelCheckpoint(
        os.path.join(folder, "best.keras"), monitor="val_accuracy", save_best_only=True
    )
    stop = keras.callbacks.EarlyStopping(monitor="val_loss", patience=6)
    model.fit(
        pipe(x, y, jitter), validation_data=valid, epochs=7, verbose=2, callbacks=[keep, stop]
    )
    best = keras.models.load_model(os.path.join(folder, "best.keras"))
    print("best kept:", best.evaluate(valid, verbose=0, return_dict=True))


if __name__ == "__main__":
    main()
