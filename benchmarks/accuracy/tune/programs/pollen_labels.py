"""Active learning on pollen textures: five rounds, each asks the expert for the most uncertain grains."""

import time
from dataclasses import dataclass

import numpy as np
import tensorflow as tf


@dataclass
class Budget:
    pool: int = 3000
    first: int = 512
    ask: int = 384
    rounds: int = 5
    steps_first: int = 120
    steps_more: int = 90
    batch: int = 64
    taxa: int = 8
    side: int = 28
    seed: int = 2718


class Grains:
    def __init__(self, b):
        self.rng = np.random.default_rng(b.seed)
        n = b.pool + 500
        taxon = self.rng.integers(0, b.taxa, n)
        yy, xx = np.mgrid[-1 : 1 : b.side * 1j, -1 : 1 : b.side * 1j]
        r, phi = np.hypot(xx, yy), np.arctan2(yy, xx)
        spikes = np.cos((taxon + 2)[:, None, None] * phi + self.rng.uniform(0, 6.28, (n, 1, 1)))
        img = np.exp(-((r - 0.55 - 0.12 * spikes) ** 2) / 0.02) + self.rng.normal(
            0, 0.45, (n, b.side, b.side)
        )
        img = img[..., None].astype("float32")
        self.x, self.y = img[: b.pool], taxon[: b.pool].astype("int32")
        self.test = tf.constant(img[b.pool :]), taxon[b.pool :]
        self.known = np.zeros(b.pool, bool)
        self.known[self.rng.choice(b.pool, b.first, replace=False)] = True

    def draw(self, k):
        idx = self.rng.choice(np.flatnonzero(self.known), k, replace=False)
        return tf.constant(self.x[idx]), tf.constant(self.y[idx])

    def unlabeled(self):
        return np.flatnonzero(~self.known)


class Learner:
    def __init__(self, b):
        L = tf.keras.layers
        self.net = tf.keras.Sequential(
            [
                tf.keras.Input((b.side, b.side, 1)),
                L.Conv2D(32, 5, padding="same", activation="relu"),
                L.Conv2D(48, 3, strides=2, padding="same", activation="relu"),
                L.Conv2D(64, 3, strides=2, padding="same", activation="relu"),
                L.Flatten(),
                L.Dropout(0.3),
                L.Dense(96, activation="relu"),
                L.Dense(b.taxa),
            ]
        )
        self.opt = tf.keras.optimizers.Adam(1e-3)
        self.opt.build(self.net.trainable_variables)

    @tf.function
    def learn(self, x, y):
        with tf.GradientTape() as tape:
            logits = self.net(x, training=True)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
        g = tape.gradient(loss, self.net.trainable_variables)
        self.opt.apply_gradients(zip(g, self.net.trainable_variables))
        return loss

    @tf.function(reduce_retracing=True)
    def entropy(self, x):
        p = tf.nn.softmax(self.net(x, training=False))
        return -tf.reduce_sum(p * tf.math.log(p + 1e-8), axis=1), tf.argmax(p, 1)


def main():
    b = Budget()
    tf.keras.utils.set_random_seed(b.seed)
    grains = Grains(b)
    learner = Learner(b)
    t0 = time.time()
    for rnd in range(b.rounds):
        total = 0.0
        steps = b.steps_first if rnd == 0 else b.steps_more
        for _ in range(steps):
            x, y = grains.draw(b.batch)
            total += float(learner.learn(x, y))
        _, guess = learner.entropy(grains.test[0])
        acc = np.mean(guess.numpy() == grains.test[1])
        print(
            f"round {rnd}: {grains.known.sum()} labels, loss {total / steps:.3f}, test {acc:.3f}, "
            f"t={time.time() - t0:.1f}s",
            flush=True,
        )
        if rnd < b.rounds - 1:
            # a random third of the pool is enough to find uncertain grains
            cand = grains.rng.choice(grains.unlabeled(), 600, replace=False)
            h, _ = learner.entropy(tf.constant(grains.x[cand]))
            grains.known[cand[np.argsort(-h.numpy())[: b.ask]]] = True
    print(f"training {time.time() - t0:.2f} s")


if __name__ == "__main__":
    main()
