#!/usr/bin/env python
# Writer verification: embed signature images, train with a triplet loss.
import threading
from collections import deque

import numpy as np
import tensorflow as tf

SIZE = 48
WRITERS = 240
PER_BATCH = 32
STEPS = 500
WARMUP = 150


class Pen:
    """Draws signatures: every writer is a set of loops, every signature a wobbly copy of it."""

    def __init__(self, seed):
        r = np.random.default_rng(seed)
        self.amp = r.uniform(0.05, 0.32, (WRITERS, 2, 4))
        self.phase = r.uniform(0, 2 * np.pi, (WRITERS, 2, 4))
        self.freq = r.integers(1, 7, (WRITERS, 2, 4))
        self.u = np.linspace(0, 1, 720)
        self.dy, self.dx = np.mgrid[0:5, 0:5] - 2
        self.nib = np.exp(-(self.dx**2 + self.dy**2) / 1.6) * 0.4

    def draw(self, writer, r):
        amp = self.amp[writer] * r.normal(1, 0.22, (2, 4))
        phase = self.phase[writer] + r.normal(0, 0.35, (2, 4))
        ang = 2 * np.pi * self.freq[writer][..., None] * self.u + phase[..., None]
        xy = 0.5 + (amp[..., None] * np.sin(ang)).sum(1) * 0.7
        xy[0] += (self.u - 0.5) * 0.35
        px, py = np.clip(xy * SIZE, 3, SIZE - 4).astype(int)
        img = np.zeros((SIZE, SIZE))
        np.add.at(img, (py[:, None, None] + self.dy, px[:, None, None] + self.dx), self.nib)
        grain = r.normal(0, 0.25, img.shape)
        grain = (grain + np.roll(grain, 1, 0) + np.roll(grain, 1, 1)) / 3
        img = np.tanh(img * r.uniform(0.5, 1.0)) + grain
        return img.astype(np.float32)

    def triplets(self, r):
        a, p, n = [], [], []
        for _ in range(PER_BATCH):
            w, other = r.choice(WRITERS, 2, replace=False)
            a.append(self.draw(w, r))
            p.append(self.draw(w, r))
            n.append(self.draw(other, r))
        return np.stack(a + p + n)[..., None]


class Feeder(threading.Thread):
    def __init__(self, pen, depth=12):
        super().__init__(daemon=True)
        self.pen = pen
        self.depth = depth
        self.shelf = deque()
        self.ready = threading.Condition()
        self.closing = False
        self.rng = np.random.default_rng(8)

    def run(self):
        while not self.closing:
            with self.ready:
                while len(self.shelf) < self.depth:
                    self.shelf.append(self.pen.triplets(self.rng))
                self.ready.notify_all()
                self.ready.wait_for(lambda: self.closing or len(self.shelf) < self.depth // 3)

    def take(self):
        with self.ready:
            self.ready.wait_for(lambda: self.shelf)
            batch = self.shelf.popleft()
            self.ready.notify_all()
            return batch

    def close(self):
        with self.ready:
            self.closing = True
            self.ready.notify_all()


def make_net():
    L = tf.keras.layers
    return tf.keras.Sequential(
        [
            L.Input((SIZE, SIZE, 1)),
            L.Conv2D(24, 5, strides=2, padding="same", activation="relu"),
            L.Conv2D(32, 3, padding="same", activation="relu"),
            L.MaxPool2D(),
            L.Conv2D(64, 3, padding="same", activation="relu"),
            L.MaxPool2D(),
            L.Flatten(),
            L.Dense(256, activation="relu"),
            L.Dense(64),
            L.UnitNormalization(),
        ]
    )


def equal_error(model, images, owner):
    """Error rate at the threshold where false accepts meet false rejects."""
    e = np.concatenate(
        [model(chunk, training=False).numpy() for chunk in np.array_split(images, 4)]
    )
    dist = ((e[:, None] - e[None]) ** 2).sum(-1)
    upper = np.triu_indices(len(e), 1)
    same, d = (owner[:, None] == owner[None])[upper], dist[upper]
    order = np.argsort(d)
    accept_bad = np.cumsum(~same[order]) / (~same).sum()
    reject_good = 1 - np.cumsum(same[order]) / same.sum()
    at = np.argmin(np.abs(accept_bad - reject_good))
    return float(accept_bad[at] + reject_good[at]) / 2


tf.keras.utils.set_random_seed(3)
pen = Pen(21)
probe_rng = np.random.default_rng(77)
probe_owner = np.repeat(np.arange(0, WRITERS, 3), 6)
probe = np.stack([pen.draw(w, probe_rng) for w in probe_owner])[..., None]
net = make_net()
opt = tf.keras.optimizers.Adam(tf.keras.optimizers.schedules.CosineDecay(8e-4, STEPS))


@tf.function
def train_step(images):
    with tf.GradientTape() as tape:
        a, p, n = tf.split(net(images, training=True), 3)
        d_pos = tf.reduce_sum(tf.square(a - p), -1)
        d_neg = tf.reduce_sum(tf.square(a - n), -1)
        loss = tf.reduce_mean(tf.nn.softplus(6.0 * (d_pos - d_neg + 0.2))) / 6.0
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    return loss, tf.reduce_mean(tf.cast(d_pos < d_neg, tf.float32))


feeder = Feeder(pen)
feeder.start()
smooth, best, eer = None, float("inf"), 1.0
for step in range(1, STEPS + 1):
    loss, hit = train_step(tf.convert_to_tensor(feeder.take()))
    loss = float(loss)
    smooth = loss if smooth is None else 0.97 * smooth + 0.03 * loss
    if step > WARMUP and smooth < best:
        best = smooth
        eer = equal_error(net, probe, probe_owner)
        net.save("signature_best.keras")
    if step % 60 == 0:
        print(
            "[%4d/%d] triplet %.4f  ordered %.3f  eer %.3f" % (step, STEPS, smooth, float(hit), eer)
        )
feeder.close()
print("kept model: smoothed loss %.4f, equal error rate %.3f" % (best, eer))
