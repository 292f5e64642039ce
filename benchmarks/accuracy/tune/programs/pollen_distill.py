"""Distil an ensemble of three pollen classifiers into one small net."""

import time
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers as L

K, S, BATCH = 8, 40, 64
rng = np.random.default_rng(77)


def grains(n):
    y = rng.integers(0, K, n)
    yy, xx = np.mgrid[0 : S + 8, 0 : S + 8] - (S + 8) / 2
    r, th = np.hypot(xx, yy), np.arctan2(yy, xx)
    rad = rng.uniform(9, 14, (n, 1, 1))
    edge = rad * (1 + 0.12 * np.cos((y[:, None, None] + 2) * th + rng.uniform(0, 6, (n, 1, 1))))
    img = (
        1 / (1 + np.exp(r - edge)) * (0.6 + 0.3 * np.cos(r * (0.4 + 0.1 * (y % 3))[:, None, None]))
    )
    img = img + rng.normal(0, 0.1, img.shape)
    return img[..., None].astype(np.float32), y.astype(np.int32)


class GrainStream(keras.utils.PyDataset):
    def __init__(self, x, y, **kw):
        super().__init__(**kw)
        self.x, self.y = x, y
        self.order = np.arange(len(x))
        self.rs = np.random.default_rng(1)

    def __len__(self):
        return len(self.x) // BATCH

    def __getitem__(self, i):
        ids = self.order[i * BATCH : (i + 1) * BATCH]
        dy, dx = self.rs.integers(0, 9, 2)
        x = self.x[ids, dy : dy + S, dx : dx + S]
        if self.rs.random() < 0.5:
            x = x[:, ::-1]
        if self.rs.random() < 0.5:
            x = x[:, :, ::-1]
        return np.ascontiguousarray(x), self.y[ids]

    def on_epoch_end(self):
        self.rs.shuffle(self.order)


def teacher(w):
    return keras.Sequential(
        [
            keras.Input((S, S, 1)),
            L.Conv2D(w, 3, padding="same", activation="relu"),
            L.MaxPooling2D(),
            L.BatchNormalization(),
            L.Conv2D(2 * w, 3, padding="same", activation="relu"),
            L.MaxPooling2D(),
            L.BatchNormalization(),
            L.Conv2D(3 * w, 3, padding="same", activation="relu"),
            L.GlobalAveragePooling2D(),
            L.Dropout(0.2),
            L.Dense(K),
        ]
    )


student = keras.Sequential(
    [
        keras.Input((S, S, 1)),
        L.Conv2D(16, 3, strides=2, activation="relu"),
        L.BatchNormalization(),
        L.Conv2D(32, 3, strides=2, activation="relu"),
        L.BatchNormalization(),
        L.Conv2D(32, 3, activation="relu"),
        L.GlobalAveragePooling2D(),
        L.Dense(K),
    ]
)

x, y = grains(2048)
xt, yt = grains(512)
xt = xt[:, 4 : 4 + S, 4 : 4 + S]
stream = GrainStream(x, y)

teachers = []
for w in (24, 28, 32):
    m = teacher(w)
    m.compile(
        keras.optimizers.Adam(3e-3),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    h = m.fit(stream, epochs=4, verbose=0)
    print("teacher width", w, "acc %.3f" % h.history["accuracy"][-1], flush=True)
    teachers.append(m)


@tf.function(jit_compile=False)
def soft_targets(xb, temp):
    p = [tf.nn.softmax(t(xb, training=False) / temp) for t in teachers]
    return tf.add_n(p) / float(len(p))


def kd(y_true, logits):
    return tf.nn.softmax_cross_entropy_with_logits(y_true, logits / 3.0) * 9.0


student.compile(keras.optimizers.Adam(2e-3), loss=kd)
temp = tf.constant(3.0)
for ep in range(7):
    t0, tot = time.time(), 0.0
    for i in range(len(stream)):
        xb, _ = stream[i]
        xb = tf.convert_to_tensor(xb)
        tot += float(student.train_on_batch(xb, soft_targets(xb, temp)))
    stream.on_epoch_end()
    acc = np.mean(student.predict(xt, batch_size=256, verbose=0).argmax(1) == yt)
    print(
        f"distil epoch {ep} loss {tot / len(stream):.3f} test acc {acc:.3f} ({time.time() - t0:.1f}s)",
        flush=True,
    )
