"""Surrogate of wind-farm wakes, trained on layouts that a simulator thread
produces while the network learns (tf.Module, no Keras)."""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import queue
import threading
import time
from dataclasses import dataclass

import numpy as np
import tensorflow as tf


@dataclass
class Conf:
    turbines: int = 24
    farms_per_batch: int = 64
    batches: int = 420
    width: int = 192
    lr: float = 6e-4
    ahead: int = 6
    seed: int = 404


def wake_power(pos, wind):
    """Jensen-like deficits, all pairs, for a batch of farms."""
    c, s = np.cos(wind)[:, None], np.sin(wind)[:, None]
    down = pos[..., 0] * c + pos[..., 1] * s
    cross = -pos[..., 0] * s + pos[..., 1] * c
    dx = down[:, :, None] - down[:, None, :]
    dy = cross[:, :, None] - cross[:, None, :]
    r = 0.04 + 0.08 * np.maximum(dx, 0)
    deficit = np.where(dx > 0.01, 0.6 * (0.04 / r) ** 2 * np.exp(-((dy / r) ** 2)), 0)
    v = 1 - np.sqrt((deficit**2).sum(2))
    return np.clip(v, 0, 1) ** 3


class Simulator(threading.Thread):
    def __init__(self, conf):
        super().__init__(daemon=True)
        self.conf = conf
        self.rng = np.random.default_rng(conf.seed)
        self.out = queue.Queue()
        self.made = 0

    def one_batch(self):
        c = self.conf
        pos = self.rng.random((c.farms_per_batch, c.turbines, 2)).astype(np.float32)
        wind = self.rng.uniform(0, 2 * np.pi, c.farms_per_batch).astype(np.float32)
        return pos, wind, wake_power(pos, wind).astype(np.float32)

    def run(self):
        while self.made < self.conf.batches:
            while self.out.qsize() >= self.conf.ahead:
                continue
            self.out.put(self.one_batch())
            self.made += 1


class Surrogate(tf.Module):
    def __init__(self, width):
        super().__init__()
        init = tf.keras.initializers.GlorotUniform(seed=5)
        v = lambda *s: tf.Variable(init(s))
        self.embed, self.pair1, self.pair2 = v(4, width), v(6, 32), v(32, 16)
        self.mix = [v(width + 16, width) for _ in range(2)]
        self.out = v(width, 1)
        self.m = [tf.Variable(tf.zeros_like(p), trainable=False) for p in self.trainable_variables]

    def __call__(self, pos, wind):
        n = tf.shape(pos)[1]
        w = tf.stack([tf.cos(wind), tf.sin(wind)], -1)[:, None, :]
        h = tf.nn.relu(tf.concat([pos, tf.repeat(w, n, 1)], -1) @ self.embed)
        d = pos[:, :, None, :] - pos[:, None, :, :]
        wp = tf.broadcast_to(w[:, None], tf.shape(d))
        feat = tf.concat([d, wp, d * wp], -1)
        e = tf.reduce_mean(tf.nn.relu(tf.nn.relu(feat @ self.pair1) @ self.pair2), 2)
        for k in self.mix:
            h = tf.nn.relu(tf.concat([h, e], -1) @ k) + h
        return tf.squeeze(tf.sigmoid(h @ self.out), -1)


@tf.function
def train_step(net, pos, wind, power, lr):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(net(pos, wind) - power))
    params = net.trainable_variables
    for p, m, g in zip(params, net.m, tape.gradient(loss, params)):
        m.assign(0.9 * m + g)
        p.assign_sub(lr * 30.0 * m)
    return loss


def main():
    conf = Conf()
    tf.random.set_seed(conf.seed)
    net = Surrogate(conf.width)
    sim = Simulator(conf)
    sim.start()
    lr = tf.constant(conf.lr)
    t0 = time.time()
    seen = 0
    while seen < conf.batches:
        pos, wind, power = sim.out.get()
        loss = train_step(net, tf.constant(pos), tf.constant(wind), tf.constant(power), lr)
        seen += 1
        if seen % 50 == 0:
            print(f"{seen:4d} batches  mse {float(loss):.5f}  {time.time() - t0:.1f} s")
    sim.join()
    print("simulated", sim.made * conf.farms_per_batch, "farms")


if __name__ == "__main__":
    main()
