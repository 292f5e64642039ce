# Day-ahead electric load forecast, 24 h horizon, with conformal bands.
import time

import numpy as np
import tensorflow as tf

tf.random.set_seed(5)
rng = np.random.default_rng(5)

CONTEXT = 96
HORIZON = 24
STATIONS = 60
HOURS = 24 * 220
BATCH = 384
STEPS = 190
COVERAGE = 0.9

hour = np.arange(HOURS)
base = (
    1
    + 0.3 * np.sin(2 * np.pi * hour / 24)[None] * rng.uniform(0.5, 1.5, (STATIONS, 1))
    + 0.2 * np.sin(2 * np.pi * hour / 168 + rng.uniform(0, 6, (STATIONS, 1)))
)
series = base + 0.05 * np.cumsum(rng.normal(0, 0.05, (STATIONS, HOURS)), 1)
series += rng.normal(0, 0.04, series.shape)
series = ((series - series.mean(1, keepdims=True)) / series.std(1, keepdims=True)).astype("float32")
print("series", series.shape)


def window(station, t):
    return series[station, t : t + CONTEXT], series[station, t + CONTEXT : t + CONTEXT + HORIZON]


def draw_batch():
    st = rng.integers(0, STATIONS, BATCH)
    t = rng.integers(0, HOURS - CONTEXT - HORIZON, BATCH)
    cols = t[:, None] + np.arange(CONTEXT + HORIZON)[None]
    both = series[st[:, None], cols]
    return tf.constant(both[:, :CONTEXT]), tf.constant(both[:, CONTEXT:])


class ConformalBand:
    """Width of the prediction band from the absolute errors of the run."""

    def __init__(self, coverage):
        self.coverage = coverage
        self.errors = []

    def update(self, err):
        self.errors.append(tf.reshape(tf.abs(err), [-1]))

    @property
    def width(self):
        if not self.errors:
            return tf.constant(1.0)
        pooled = tf.sort(tf.concat(self.errors, 0))
        rank = int(self.coverage * (pooled.shape[0] - 1))
        return pooled[rank]


class Block(tf.keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.hidden = [tf.keras.layers.Dense(units, activation="relu") for _ in range(3)]
        self.back = tf.keras.layers.Dense(CONTEXT)
        self.fore = tf.keras.layers.Dense(HORIZON)

    def call(self, x):
        h = x
        for layer in self.hidden:
            h = layer(h)
        return x - self.back(h), self.fore(h)


class Beats(tf.keras.Model):
    def __init__(self, blocks=4, units=384):
        super().__init__()
        self.blocks = [Block(units) for _ in range(blocks)]

    def call(self, x):
        total = 0.0
        for block in self.blocks:
            x, fore = block(x)
            total = total + fore
        return total


model = Beats()
opt = tf.keras.optimizers.Adam(7e-4)
band = ConformalBand(COVERAGE)


@tf.function
def train_step(x, y, width):
    with tf.GradientTape() as tape:
        err = y - model(x, training=True)
        a = tf.abs(err)
        loss = tf.reduce_mean(tf.where(a < width, 0.5 * err**2, width * (a - 0.5 * width)))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss, err


start = time.time()
for step in range(STEPS):
    x, y = draw_batch()
    loss, err = train_step(x, y, band.width)
    band.update(err)
    if step % 40 == 0:
        print("step %3d loss %.4f" % (step, float(loss)))
print("train wall", round(time.time() - start, 2))

x, y = window(0, 100)
pred = model(x[None])[0]
print("band", float(band.width), "mae", float(tf.reduce_mean(tf.abs(pred - y))))
