"""Self-paced training of a postmark reader.

Scans are stored as PNG bytes together with a wear grade between 0 and 1 given
by the archive. Training begins with everything and, epoch after epoch, keeps
to the more worn scans, which is what the model is for.
"""

import numpy as np
import tensorflow as tf
from tensorflow import keras

SIDE = 96
TOWNS = 8
EPOCHS = 12
STEPS = 40
BATCH = 16

floor = tf.Variable(0.0, trainable=False, name="wear_floor")


def cut_die(town):
    """Each town's postmark is a ring with its own arrangement of bars."""
    yy, xx = np.mgrid[0:SIDE, 0:SIDE]
    r = np.hypot(yy - SIDE / 2, xx - SIDE / 2)
    a = np.arctan2(yy - SIDE / 2, xx - SIDE / 2)
    ink = (np.abs(r - 40) < 2) | (np.abs(r - 26) < 1.5)
    ink |= (np.sin((town + 2) * a) > 0.7) & (r > 28) & (r < 38)
    ink |= (np.abs(yy - SIDE / 2) < 3) & (np.abs(xx - SIDE / 2) < 4 + 2 * town)
    return ink.astype("float32")


def scan_archive(n, seed):
    rng = np.random.default_rng(seed)
    dies = [cut_die(t) for t in range(TOWNS)]
    pngs, towns, wear = [], rng.integers(0, TOWNS, n), rng.random(n)
    for i in range(n):
        worn = dies[towns[i]] * (rng.random((SIDE, SIDE)) > 0.8 * wear[i])
        paper = 225 - 150 * worn + rng.normal(0, 12 + 25 * wear[i], (SIDE, SIDE))
        img = np.clip(paper, 0, 255).astype("uint8")[..., None]
        pngs.append(tf.io.encode_png(img).numpy())
    return np.array(pngs, dtype=object), towns.astype("int32"), wear.astype("float32")


def decode(png, town, wear):
    img = tf.io.decode_png(png, channels=1)
    img.set_shape((SIDE, SIDE, 1))
    return tf.cast(img, tf.float32) / 255.0, town, wear


def crumple(img, town, wear):
    """Smooth random displacement plus a little shading, as from old albums."""
    coarse = tf.random.normal((1, 6, 6, 2), stddev=2.5)
    flow = tf.image.resize(coarse, (SIDE, SIDE), method="bicubic")[0]
    gy, gx = tf.meshgrid(
        tf.range(SIDE, dtype=tf.float32), tf.range(SIDE, dtype=tf.float32), indexing="ij"
    )
    y = tf.clip_by_value(gy + flow[..., 0], 0.0, SIDE - 1.001)
    x = tf.clip_by_value(gx + flow[..., 1], 0.0, SIDE - 1.001)
    y0, x0 = tf.floor(y), tf.floor(x)
    dy, dx = (y - y0)[..., None], (x - x0)[..., None]
    iy, ix = tf.cast(y0, tf.int32), tf.cast(x0, tf.int32)

    def at(a, b):
        return tf.gather_nd(img, tf.stack([a, b], -1))

    out = (
        (1 - dy) * (1 - dx) * at(iy, ix)
        + (1 - dy) * dx * at(iy, ix + 1)
        + dy * (1 - dx) * at(iy + 1, ix)
        + dy * dx * at(iy + 1, ix + 1)
    )
    shade = tf.image.resize(
        tf.random.uniform((1, 4, 4, 1), 0.7, 1.1), (SIDE, SIDE), method="bicubic"
    )[0]
    return out * shade, town, wear


def training_set(pngs, towns, wear):
    ds = tf.data.Dataset.from_tensor_slices((pngs.astype("S"), towns, wear))
    ds = ds.shuffle(len(towns), seed=1).repeat()
    ds = ds.map(decode).map(crumple, num_parallel_calls=tf.data.AUTOTUNE)
    ds = ds.filter(lambda img, town, w: w >= floor)
    ds = ds.map(lambda img, town, w: (img, town))
    return ds.batch(BATCH).prefetch(2)


class RaiseFloor(keras.callbacks.Callback):
    def __init__(self, last=0.92):
        super().__init__()
        self.last = last

    def on_epoch_begin(self, epoch, logs=None):
        floor.assign(self.last * min(1.0, epoch / (EPOCHS - 3)))

    def on_epoch_end(self, epoch, logs=None):
        logs["floor"] = float(floor.numpy())


def reader():
    return keras.Sequential(
        [
            keras.Input((SIDE, SIDE, 1)),
            keras.layers.Conv2D(16, 5, strides=2, activation="relu"),
            keras.layers.Conv2D(32, 3, strides=2, activation="relu"),
            keras.layers.Conv2D(48, 3, strides=2, activation="relu"),
            keras.layers.Flatten(),
            keras.layers.Dense(64, activation="relu"),
            keras.layers.Dense(TOWNS),
        ]
    )


def main():
    keras.utils.set_random_seed(21)
    pngs, towns, wear = scan_archive(4000, 0)
    vp, vt, vw = scan_archive(400, 1)
    val = (
        tf.data.Dataset.from_tensor_slices((vp.astype("S"), vt, vw))
        .map(decode)
        .map(lambda i, t, w: (i, t))
        .batch(100)
        .cache()
    )
    model = reader()
    model.compile(
        keras.optimizers.Adam(1e-3),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.fit(
        training_set(pngs, towns, wear),
        epochs=EPOCHS,
        steps_per_epoch=STEPS,
        validation_data=val,
        callbacks=[RaiseFloor()],
        verbose=2,
    )
    hits = model.predict(val, verbose=0).argmax(1) == vt
    for lo in (0.0, 0.33, 0.66):
        part = (vw >= lo) & (vw < lo + 0.34)
        print(f"wear {lo:.2f}-{lo + 0.34:.2f}: accuracy {hits[part].mean():.3f}")


if __name__ == "__main__":
    main()
