"""Rind photographs of ageing cheese: three nets of different size are trained
one after another, the third with micro-batches (gradient accumulation), and
their mean is the final prediction of the age in weeks."""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import time

import numpy as np
import tensorflow as tf

MEMBERS = [
    dict(name="small", filters=(16, 32), micro=1, epochs=5),
    dict(name="wide", filters=(32, 48), micro=1, epochs=5),
    dict(name="deep", filters=(24, 48, 64), micro=4, epochs=5),
]
BATCH = 64


def rinds(n, rng):
    age = rng.uniform(2, 40, n).astype(np.float32)
    base = rng.normal(0, 1, (n, 40, 40, 3)).astype(np.float32)
    yy, xx = np.mgrid[0:40, 0:40]
    freq = (0.1 + age / 60)[:, None, None]
    spots = np.sin(freq * xx) * np.sin(freq * yy)
    return base * 0.5 + spots[..., None].astype(np.float32), age / 40


def build(filters):
    L = tf.keras.layers
    m = tf.keras.Sequential([L.Input((40, 40, 3))])
    for f in filters:
        m.add(L.Conv2D(f, 3, padding="same", activation="relu"))
        m.add(L.Conv2D(f, 3, padding="same", strides=2, activation="relu"))
    m.add(L.GlobalAveragePooling2D())
    m.add(L.Dense(64, activation="relu"))
    m.add(L.Dense(1))
    return m


class Member:
    def __init__(self, spec):
        self.spec = spec
        self.net = build(spec["filters"])
        self.opt = tf.keras.optimizers.Adam(1.5e-3)
        self.opt.build(self.net.trainable_variables)
        self.acc = [
            tf.Variable(tf.zeros_like(v), trainable=False) for v in self.net.trainable_variables
        ]

    @tf.function
    def update(self, x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.net(x, training=True)[:, 0] - y))
        g = tape.gradient(loss, self.net.trainable_variables)
        self.opt.apply_gradients(zip(g, self.net.trainable_variables))
        return loss

    @tf.function
    def collect(self, x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.net(x, training=True)[:, 0] - y))
        for a, g in zip(self.acc, tape.gradient(loss, self.net.trainable_variables)):
            a.assign_add(g)
        return loss

    @tf.function
    def flush(self):
        n = float(self.spec["micro"])
        self.opt.apply_gradients(
            [(a / n, v) for a, v in zip(self.acc, self.net.trainable_variables)]
        )
        for a in self.acc:
            a.assign(tf.zeros_like(a))

    @tf.function
    def predict(self, x):
        return self.net(x, training=False)[:, 0]

    def epoch(self, photos, ages, rng):
        losses = []
        order = rng.permutation(len(ages))
        for i in range(len(ages) // BATCH):
            pick = order[i * BATCH : (i + 1) * BATCH]
            x, y = photos[pick], ages[pick]
            if self.spec["micro"] == 1:
                losses.append(self.update(x, y))
            else:
                losses.append(self.collect(x, y))
                if (i + 1) % self.spec["micro"] == 0:
                    self.flush()
        return float(tf.reduce_mean(losses))


def main():
    tf.keras.utils.set_random_seed(58)
    rng = np.random.default_rng(58)
    x, y = rinds(2048, rng)
    xt, yt = rinds(128, rng)
    preds = []
    for spec in MEMBERS:
        member = Member(spec)
        for e in range(spec["epochs"]):
            t0 = time.time()
            loss = member.epoch(x, y, rng)
            print(f"{spec['name']:6s} epoch {e} mse {loss:.4f} {time.time() - t0:.2f} s")
        preds.append(member.predict(xt).numpy())
        print(f"{spec['name']:6s} test mae {40 * np.abs(preds[-1] - yt).mean():.2f} weeks")
    print("ensemble mae %.2f weeks" % (40 * np.abs(np.mean(preds, 0) - yt).mean()))


if __name__ == "__main__":
    main()
