"""Galaxy morphology with progressive resizing and sample weights.

Small pictures first, then larger ones; the network is fully convolutional.
"""

import math

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

FULL = 64
STAGES = ((24, 4), (36, 4), (48, 4))  # (picture side, epochs)
BATCH = 64
N_TRAIN, N_VAL = 2000, 400


def observe(n, seed):
    rng = np.random.default_rng(seed)
    kind = rng.choice(3, n, p=[0.55, 0.3, 0.15])  # elliptical, spiral, barred
    g = np.linspace(-1, 1, FULL, dtype="float32")
    yy, xx = np.meshgrid(g, g, indexing="ij")
    pa = rng.uniform(0, np.pi, (n, 1, 1)).astype("float32")
    incl = rng.uniform(0.5, 1.0, (n, 1, 1)).astype("float32")
    u = xx * np.cos(pa) + yy * np.sin(pa)
    v = (-xx * np.sin(pa) + yy * np.cos(pa)) / incl
    r = np.sqrt(u**2 + v**2) + 1e-3
    th = np.arctan2(v, u)
    size = rng.uniform(0.2, 0.35, (n, 1, 1)).astype("float32")
    light = np.exp(-r / size)
    arms = np.exp(-r / (1.6 * size)) * np.maximum(np.cos(2 * th - 6 * np.log(r + 0.1)), 0)
    bar = np.exp(-((v / 0.07) ** 2) - (u / 0.4) ** 2)
    k = kind[:, None, None]
    img = light + 0.8 * (k > 0) * arms + 0.8 * (k == 2) * bar
    img += 0.18 * rng.normal(size=img.shape).astype("float32")
    return img[..., None].astype("float32"), kind.astype("int32")


def class_weights(kind):
    count = np.bincount(kind, minlength=3)
    return (len(kind) / (3 * count)).astype("float32")


def stage_data(img, kind, side, weights=None):
    x = tf.image.resize(img, (side, side), antialias=True)
    if weights is None:
        return tf.data.Dataset.from_tensor_slices((x, kind)).batch(BATCH).prefetch(2)
    ds = tf.data.Dataset.from_tensor_slices((x, kind, weights[kind]))
    ds = ds.shuffle(len(kind)).batch(BATCH, drop_remainder=True)
    turn = lambda a, b, w: (tf.image.rot90(a, tf.random.uniform([], 0, 4, tf.int32)), b, w)
    return ds.map(turn, num_parallel_calls=2).prefetch(2)


class SqueezeExcite(layers.Layer):
    def __init__(self, filters, **kwargs):
        super().__init__(**kwargs)
        self.down = layers.Dense(filters // 4, activation="relu")
        self.up = layers.Dense(filters, activation="sigmoid")

    def call(self, x):
        s = ops.mean(x, axis=(1, 2), keepdims=True)
        return x * self.up(self.down(s))


def residual(x, filters):
    short = layers.Conv2D(filters, 1, strides=2)(x)
    h = layers.Conv2D(filters, 3, strides=2, padding="same", activation="relu")(x)
    h = layers.Conv2D(filters, 3, padding="same")(h)
    h = SqueezeExcite(filters)(h)
    return layers.ReLU()(layers.Add()([short, h]))


def make_network():
    inp = keras.Input((None, None, 1))
    x = layers.Conv2D(12, 3, padding="same", activation="relu")(inp)
    for filters in (16, 32, 48):
        x = residual(x, filters)
    x = layers.GlobalAveragePooling2D()(x)
    return keras.Model(inp, layers.Dense(3)(x))


def main():
    keras.utils.set_random_seed(8)
    img, kind = observe(N_TRAIN, 1)
    val_img, val_kind = observe(N_VAL, 2)
    weights = class_weights(kind)
    print("class weights", np.round(weights, 2))

    per_epoch = N_TRAIN // BATCH
    total = per_epoch * sum(epochs for _, epochs in STAGES)
    schedule = keras.optimizers.schedules.CosineDecay(
        0.0, total, alpha=0.02, warmup_target=3e-3, warmup_steps=per_epoch
    )
    model = make_network()
    model.compile(
        optimizer=keras.optimizers.AdamW(schedule, weight_decay=1e-4, clipnorm=1.0),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        weighted_metrics=["accuracy"],
        jit_compile=False,  # picture sizes change
    )
    done = 0
    for side, epochs in STAGES:
        print(f"--- {side} x {side}, epochs {done + 1} to {done + epochs}")
        model.fit(
            stage_data(img, kind, side, weights),
            validation_data=stage_data(val_img, val_kind, side),
            initial_epoch=done,
            epochs=done + epochs,
            verbose=2,
        )
        done += epochs
    probs = keras.ops.softmax(model.predict(stage_data(val_img, val_kind, side), verbose=0))
    guess = np.argmax(np.asarray(probs), axis=1)
    balanced = np.mean([np.mean(guess[val_kind == k] == k) for k in range(3)])
    print(f"balanced accuracy {balanced:.3f} (chance {1 / 3:.3f}), entropy limit {math.log(3):.3f}")


if __name__ == "__main__":
    main()
