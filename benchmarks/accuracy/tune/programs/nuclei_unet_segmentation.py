"""Small U-Net on synthetic microscopy crops with elastic augmentation, Keras fit."""

import os
import tempfile
import time

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import tensorflow as tf
from keras import layers

SEED = 17
FIELD, SIDE = 96, 64
N_CROPS, N_VAL = 2000, 160
BATCH = 16
EPOCHS = 6
MIN_FOCUS = 0.78


def draw_crops(n, rng):
    yy, xx = np.meshgrid(np.arange(FIELD), np.arange(FIELD), indexing="ij")
    img = np.zeros((n, FIELD, FIELD), np.float32)
    mask = np.zeros((n, FIELD, FIELD), np.float32)
    focus = rng.uniform(0, 1, n).astype(np.float32)
    for i in range(n):
        for _ in range(rng.integers(6, 14)):
            cx, cy = rng.uniform(4, FIELD - 4, 2)
            a, b = rng.uniform(4, 9, 2)
            d = ((xx - cx) / a) ** 2 + ((yy - cy) / b) ** 2
            mask[i] = np.maximum(mask[i], d < 1)
            img[i] += rng.uniform(0.4, 1.0) / (1 + np.exp((d - 1) * (2 + 8 * focus[i])))
    img += rng.normal(0, 0.12, img.shape)
    return img[..., None].astype(np.float32), mask[..., None], focus


def smooth(field, times=5):
    for _ in range(times):
        field = tf.nn.avg_pool2d(field, 9, 1, "SAME")
    return field


def elastic(img, mask, focus):
    both = tf.concat([img, mask], -1)
    if tf.random.uniform([]) < 0.5:
        both = tf.reverse(both, [1])
    both = tf.image.rot90(both, tf.random.uniform([], 0, 4, tf.int32))
    flow = 80.0 * smooth(tf.random.normal([1, FIELD, FIELD, 2]))[0]
    base = tf.stack(tf.meshgrid(tf.range(FIELD), tf.range(FIELD), indexing="ij"), -1)
    at = tf.clip_by_value(tf.cast(base, tf.float32) + flow, 0.0, FIELD - 1.001)
    lo = tf.floor(at)
    frac = at - lo
    lo = tf.cast(lo, tf.int32)
    fy, fx = frac[..., :1], frac[..., 1:]
    p00, p01 = tf.gather_nd(both, lo), tf.gather_nd(both, lo + [0, 1])
    p10, p11 = tf.gather_nd(both, lo + [1, 0]), tf.gather_nd(both, lo + [1, 1])
    out = (1 - fy) * ((1 - fx) * p00 + fx * p01) + fy * ((1 - fx) * p10 + fx * p11)
    out = tf.image.random_crop(out, [SIDE, SIDE, 2])
    gain = tf.random.uniform([], 0.8, 1.2)
    return out[..., :1] * gain, tf.round(out[..., 1:]), focus


def conv(x, f):
    for _ in range(2):
        x = layers.Conv2D(f, 3, padding="same", use_bias=False)(x)
        x = layers.BatchNormalization()(x)
        x = layers.ReLU()(x)
    return x


def build():
    inp = keras.Input((SIDE, SIDE, 1))
    a = conv(inp, 8)
    b = conv(layers.MaxPooling2D()(a), 16)
    c = conv(layers.MaxPooling2D()(b), 32)
    u = layers.Conv2DTranspose(16, 2, strides=2)(c)
    u = conv(layers.Concatenate()([u, b]), 16)
    u = layers.Conv2DTranspose(8, 2, strides=2)(u)
    u = conv(layers.Concatenate()([u, a]), 8)
    return keras.Model(inp, layers.Conv2D(1, 1)(u), name="unet")


def bce_dice(y, logits):
    bce = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logits))
    p = tf.sigmoid(logits)
    inter = tf.reduce_sum(p * y, [1, 2, 3])
    total = tf.reduce_sum(p + y, [1, 2, 3])
    return bce + 1 - tf.reduce_mean((2 * inter + 1) / (total + 1))


def make_train(img, mask, focus):
    ds = tf.data.Dataset.from_tensor_slices((img, mask, focus)).shuffle(len(img), seed=SEED)
    ds = ds.map(elastic, num_parallel_calls=tf.data.AUTOTUNE)
    ds = ds.filter(lambda im, mk, fc: fc >= MIN_FOCUS)
    ds = ds.map(lambda im, mk, fc: (im, mk))
    return ds.batch(BATCH).prefetch(tf.data.AUTOTUNE)


class Progress(keras.callbacks.Callback):
    def on_train_begin(self, logs=None):
        self.t0 = time.time()

    def on_epoch_end(self, epoch, logs=None):
        row = " ".join(f"{k} {v:.4f}" for k, v in logs.items())
        print(f"epoch {epoch + 1} {row} {time.time() - self.t0:.1f}s", flush=True)


def main():
    keras.utils.set_random_seed(SEED)
    rng = np.random.default_rng(SEED)
    img, mask, focus = draw_crops(N_CROPS + N_VAL, rng)
    train = make_train(img[N_VAL:], mask[N_VAL:], focus[N_VAL:])
    mid = slice((FIELD - SIDE) // 2, (FIELD + SIDE) // 2)
    held = (img[:N_VAL, mid, mid], mask[:N_VAL, mid, mid])
    val = tf.data.Dataset.from_tensor_slices(held).batch(32).cache()

    model = build()
    model.compile(
        optimizer=keras.optimizers.Adam(2e-3),
        loss=bce_dice,
        metrics=[keras.metrics.BinaryAccuracy(threshold=0.0, name="acc")],
    )
    with tempfile.TemporaryDirectory() as work:
        callbacks = [
            Progress(),
            keras.callbacks.ReduceLROnPlateau(patience=2, factor=0.5),
            keras.callbacks.ModelCheckpoint(
                os.path.join(work, "unet.weights.h5"), save_best_only=True, save_weights_only=True
            ),
        ]
        model.fit(train, validation_data=val, epochs=EPOCHS, verbose=0, callbacks=callbacks)


if __name__ == "__main__":
    main()
