"""Day-ahead electricity load with a GRU seq2one net; the history window is lengthened in stages."""

import logging
import math
import time
from dataclasses import dataclass, field

import numpy as np
import tensorflow as tf

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
log = logging.getLogger("load")


@dataclass
class Params:
    stages: list = field(default_factory=lambda: [(24, 200), (48, 180), (96, 160), (168, 90)])
    batch: int = 64
    hidden: int = 64
    lr: float = 2e-3
    n_meters: int = 48
    hours: int = 24 * 120
    seed: int = 9


def simulate(p):
    rng = np.random.default_rng(p.seed)
    h = np.arange(p.hours)
    base = rng.uniform(0.5, 2.0, (p.n_meters, 1))
    daily = np.sin(2 * np.pi * (h / 24 + rng.uniform(0, 1, (p.n_meters, 1))))
    weekly = 0.4 * np.cos(2 * np.pi * h / 168 + rng.uniform(0, 6, (p.n_meters, 1)))
    ar = np.zeros((p.n_meters, p.hours))
    eps = 0.15 * rng.standard_normal((p.n_meters, p.hours))
    for t in range(1, p.hours):
        ar[:, t] = 0.9 * ar[:, t - 1] + eps[:, t]
    load = base * (1.5 + daily + weekly) + ar
    mu, sd = load.mean(1, keepdims=True), load.std(1, keepdims=True)
    load = (load - mu) / sd
    cal = np.stack(
        [np.sin(2 * np.pi * h / 24), np.cos(2 * np.pi * h / 24), np.sin(2 * np.pi * h / 168)], -1
    )
    return load.astype("float32"), cal.astype("float32")


class Sampler:
    def __init__(self, load, cal, p, lo, hi):
        self.load, self.cal, self.p = load, cal, p
        self.lo, self.hi = lo, hi
        self.rng = np.random.default_rng(p.seed + lo)

    def draw(self, length, n=None):
        n = n or self.p.batch
        m = self.rng.integers(0, self.p.n_meters, n)
        s = self.rng.integers(self.lo, self.hi - length - 24, n)
        win = s[:, None] + np.arange(length)
        x = np.concatenate([self.load[m[:, None], win][..., None], self.cal[win]], -1)
        tgt = self.load[m[:, None], s[:, None] + length + np.arange(24)]
        return x, tgt


class Net(tf.Module):
    def __init__(self, p):
        super().__init__()
        self.rnn = tf.keras.layers.GRU(p.hidden)
        self.head = tf.keras.Sequential(
            [tf.keras.layers.Dense(64, "relu"), tf.keras.layers.Dense(24)]
        )
        self.rnn.build((None, None, 4))
        self.head.build((None, p.hidden))

    def __call__(self, x):
        return self.head(self.rnn(x))

    @property
    def params(self):
        return self.rnn.trainable_variables + self.head.trainable_variables


def run():
    p = Params()
    tf.random.set_seed(p.seed)
    load, cal = simulate(p)
    cut = int(p.hours * 0.8)
    train, valid = Sampler(load, cal, p, 0, cut), Sampler(load, cal, p, cut, p.hours)
    net = Net(p)
    opt = tf.keras.optimizers.Adam(p.lr, clipnorm=1.0)
    sig = [tf.TensorSpec([None, None, 4]), tf.TensorSpec([None, 24])]

    @tf.function(input_signature=sig)
    def fit(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.abs(net(x) - y))
        opt.apply_gradients(zip(tape.gradient(loss, net.params), net.params))
        return loss

    @tf.function(input_signature=sig)
    def score(x, y):
        return tf.reduce_mean(tf.abs(net(x) - y))

    total, done, started = sum(s for _, s in p.stages), 0, time.time()
    for length, steps in p.stages:
        log.info("history window = %d hours (%d updates)", length, steps)
        acc = []
        for i in range(steps):
            opt.learning_rate.assign(p.lr * 0.5 * (1 + math.cos(math.pi * done / total)))
            acc.append(float(fit(*train.draw(length))))
            done += 1
            if (i + 1) % 30 == 0:
                v = float(score(*valid.draw(length, 128)))
                log.info(
                    "  upd %4d/%d mae %.4f valid %.4f  %.1fs",
                    done,
                    total,
                    np.mean(acc[-30:]),
                    v,
                    time.time() - started,
                )
    log.info("final valid mae (168h): %.4f", float(score(*valid.draw(168, 512))))


if __name__ == "__main__":
    run()
