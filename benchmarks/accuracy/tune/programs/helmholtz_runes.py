"""Wake-sleep training of a Helmholtz machine on carved rune fragments.

Wake: recognise, then fit the generative weights.  Sleep: dream, then fit the
recognition weights.  Dream batches are larger, as dreams cost no data.
"""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import argparse
import time

import numpy as np
import tensorflow as tf

PIX = 28 * 28
LAYERS = [PIX, 800, 400, 120]


def carve(n, rng):
    """Bars and diagonals in binary images, with weathering."""
    out = np.zeros((n, 28, 28), np.float32)
    for i in range(n):
        x0 = rng.integers(6, 22)
        out[i, 3:25, x0 : x0 + 2] = 1
        for _ in range(rng.integers(1, 4)):
            y, d = rng.integers(3, 16), rng.choice([-1, 1])
            for t in range(9):
                out[i, min(y + t, 27), np.clip(x0 + d * t, 0, 27)] = 1
    flip = rng.random(out.shape) < 0.02
    return np.where(flip, 1 - out, out).reshape(n, PIX).astype(np.float32)


class Helmholtz(tf.Module):
    def __init__(self, lr):
        super().__init__()
        self.rec = [self._layer(a, b) for a, b in zip(LAYERS[:-1], LAYERS[1:])]
        self.gen = [self._layer(b, a) for a, b in zip(LAYERS[:-1], LAYERS[1:])]
        self.prior = tf.Variable(tf.zeros([LAYERS[-1]]))
        self.lr = tf.Variable(lr, trainable=False)

    @staticmethod
    def _layer(a, b):
        return (tf.Variable(tf.random.normal([a, b], stddev=0.05)), tf.Variable(tf.zeros([b])))

    def sample(self, logits):
        u = tf.random.stateless_uniform(tf.shape(logits), tf.stack([self.seed, tf.size(logits)]))
        return tf.cast(u < tf.sigmoid(logits), tf.float32)

    def descend(self, loss_of, params):
        with tf.GradientTape() as tape:
            loss = loss_of()
        for p, g in zip(params, tape.gradient(loss, params)):
            p.assign_sub(self.lr * g)
        return loss

    @staticmethod
    def nats(target, logits):
        return tf.reduce_mean(
            tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(target, logits), -1)
        )

    @tf.function
    def wake(self, x, seed):
        self.seed = seed
        acts = [x]
        for w, b in self.rec:
            acts.append(self.sample(acts[-1] @ w + b))

        def loss():
            top = tf.zeros_like(acts[-1]) + self.prior
            total = self.nats(acts[-1], top)
            for i, (w, b) in enumerate(self.gen):
                total += self.nats(acts[i], acts[i + 1] @ w + b)
            return total

        params = [v for wb in self.gen for v in wb] + [self.prior]
        return self.descend(loss, params)

    @tf.function
    def sleep(self, blank, seed):
        self.seed = seed
        acts = [self.sample(blank + self.prior)]
        for w, b in reversed(self.gen):
            acts.insert(0, self.sample(acts[0] @ w + b))

        def loss():
            total = 0.0
            for i, (w, b) in enumerate(self.rec):
                total += self.nats(acts[i + 1], acts[i] @ w + b)
            return total

        return self.descend(loss, [v for wb in self.rec for v in wb])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--rounds", type=int, default=18)
    p.add_argument("--wake-batch", type=int, default=512)
    p.add_argument("--dream-batch", type=int, default=1536)
    a = p.parse_args()
    tf.random.set_seed(3)
    rng = np.random.default_rng(3)
    stones = tf.constant(carve(4096, rng))
    machine = Helmholtz(0.02)
    blank = tf.zeros([a.dream_batch, LAYERS[-1]])
    tick = 0
    for r in range(a.rounds):
        t0 = time.time()
        order = tf.random.shuffle(tf.range(4096))
        for k in range(0, 4096 - a.wake_batch + 1, a.wake_batch):
            tick += 1
            w = machine.wake(tf.gather(stones, order[k : k + a.wake_batch]), tf.constant(tick))
        t1 = time.time()
        for _ in range(8):
            tick += 1
            s = machine.sleep(blank, tf.constant(tick))
        print(
            f"round {r:2d} wake {float(w):7.2f} nats ({t1 - t0:.2f} s)  "
            f"sleep {float(s):7.2f} ({time.time() - t1:.2f} s)"
        )


if __name__ == "__main__":
    main()
