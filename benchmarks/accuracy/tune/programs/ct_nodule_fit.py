"""Nodule / no-nodule patch classifier for the chest CT pilot.

Slices come from three scanners with different reconstruction settings. For the
thin-slice study we only keep reconstructions up to 2.5 mm.
(PACS export replaced by a phantom generator so that this runs off-site.)
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tempfile
import time

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(11)
RAW = 112  # exported matrix size around the candidate
PATCH = 64  # network input
BATCH = 24
EPOCHS = 6
MAX_THICKNESS_MM = 2.5
AUTOTUNE = tf.data.AUTOTUNE
OUT = tempfile.mkdtemp(prefix="ct_nodule_")


def phantom_export(n, seed):
    """int16 slices in HU, as the raw byte strings we get from the export job."""
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:RAW, 0:RAW].astype(np.float32)
    blobs, labels = [], []
    for _ in range(n):
        img = rng.normal(-820, 60, (RAW, RAW))
        cx, cy = rng.uniform(40, 72, 2)
        r = rng.uniform(4, 11)
        y = int(rng.random() < 0.5)
        d2 = (xx - cx) ** 2 + (yy - cy) ** 2
        if y:
            img += 700 * np.exp(-d2 / (2 * r * r))
        else:  # vessel: long in one direction
            a = rng.uniform(0, np.pi)
            img += 600 * np.exp(
                -((((xx - cx) * np.cos(a) + (yy - cy) * np.sin(a)) / (0.5 * r)) ** 2)
            )
        blobs.append(img.astype("<i2").tobytes())
        labels.append(y)
    thickness = rng.choice([1.0, 1.25, 2.5, 3.0, 5.0], size=n, p=[0.09, 0.09, 0.12, 0.30, 0.40])
    return np.array(blobs, dtype=object), thickness.astype(np.float32), np.array(labels, np.int32)


def read_slice(blob, mm, label):
    hu = tf.cast(tf.reshape(tf.io.decode_raw(blob, tf.int16), [RAW, RAW]), tf.float32)
    lung = tf.clip_by_value((hu + 1350.0) / 1500.0, 0.0, 1.0)
    return lung, mm, label


def bilinear(img, y, x):
    y = tf.clip_by_value(y, 0.0, RAW - 1.001)
    x = tf.clip_by_value(x, 0.0, RAW - 1.001)
    y0, x0 = tf.floor(y), tf.floor(x)
    wy, wx = y - y0, x - x0
    flat = tf.reshape(img, [-1])
    base = tf.cast(y0 * RAW + x0, tf.int32)
    top = tf.gather(flat, base) * (1 - wx) + tf.gather(flat, base + 1) * wx
    bot = tf.gather(flat, base + RAW) * (1 - wx) + tf.gather(flat, base + RAW + 1) * wx
    return top * (1 - wy) + bot * wy


def breathing_deform(img, mm, label):
    """Random rotation plus a smooth displacement field, different every time."""
    g = tf.linspace(-PATCH / 2.0, PATCH / 2.0, PATCH)
    gy, gx = tf.meshgrid(g, g, indexing="ij")
    a = tf.random.uniform([], -0.5, 0.5)
    field = tf.image.resize(
        tf.random.normal([6, 6, 2], stddev=2.0), [PATCH, PATCH], method="bicubic"
    )
    cy = RAW / 2.0 + tf.cos(a) * gy - tf.sin(a) * gx + field[..., 0]
    cx = RAW / 2.0 + tf.sin(a) * gy + tf.cos(a) * gx + field[..., 1]
    # 3x3 supersampling, single samples alias on the small vessels
    shifts = [(dy, dx) for dy in (-0.33, 0.0, 0.33) for dx in (-0.33, 0.0, 0.33)]
    patch = tf.add_n([bilinear(img, cy + dy, cx + dx) for dy, dx in shifts]) / 9.0
    patch += tf.random.normal([PATCH, PATCH], stddev=0.02)
    return patch[..., None], mm, label


def pipeline(arrays, training):
    blobs, thickness, labels = arrays
    ds = tf.data.Dataset.from_tensor_slices((list(blobs), thickness, labels))
    if training:
        ds = ds.shuffle(len(labels))
    ds = ds.map(read_slice, num_parallel_calls=AUTOTUNE)
    ds = ds.map(breathing_deform, num_parallel_calls=AUTOTUNE)
    ds = ds.filter(lambda img, mm, label: mm <= MAX_THICKNESS_MM)
    ds = ds.map(lambda img, mm, label: (img, label))
    return ds.batch(BATCH).prefetch(4)


def build():
    L = tf.keras.layers
    inp = L.Input((PATCH, PATCH, 1))
    x = inp
    for f in (16, 32, 48):
        x = L.Conv2D(f, 3, padding="same", use_bias=False)(x)
        x = L.BatchNormalization(momentum=0.9)(x)
        x = L.ReLU()(x)
        x = L.MaxPool2D()(x)
    x = L.GlobalAveragePooling2D()(x)
    out = L.Dense(1, activation="sigmoid")(L.Dropout(0.2)(x))
    m = tf.keras.Model(inp, out)
    m.compile(
        tf.keras.optimizers.Adam(1e-3),
        "binary_crossentropy",
        metrics=[tf.keras.metrics.AUC(name="auc")],
    )
    return m


def main():
    t0 = time.time()
    train = pipeline(phantom_export(5200, 1), True)
    val = pipeline(phantom_export(360, 2), False)
    model = build()
    model.fit(train, validation_data=val, epochs=EPOCHS, verbose=2)
    model.save_weights(os.path.join(OUT, "nodule.weights.h5"))
    print("finished in %.1f min" % ((time.time() - t0) / 60))


if __name__ == "__main__":
    main()
