"""Online learning from harbour buoys: two reader threads, one learner, the sea changes half-way."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import argparse
import queue
import threading
import time

import numpy as np
import tensorflow as tf

WINDOW, SENSORS = 32, 8


class Buoy(threading.Thread):
    """Cuts random windows out of a recorded sea and hands them over in batches."""

    def __init__(self, number, out, batches, size):
        super().__init__(daemon=True)
        self.rng = np.random.default_rng(100 + number)
        self.out, self.batches, self.size = out, batches, size
        t = np.arange(20000)[:, None]
        freq = self.rng.uniform(0.02, 0.2, (1, SENSORS))
        self.calm = np.sin(freq * t) + 0.1 * self.rng.normal(size=(20000, SENSORS))
        self.storm = np.sin(1.7 * freq * t) * (1 + 0.5 * np.sin(0.01 * t))
        self.calm, self.storm = self.calm.astype(np.float32), self.storm.astype(np.float32)

    def run(self):
        span = np.arange(WINDOW + 1)
        for k in range(self.batches):
            sea = self.calm if k < self.batches // 2 else self.storm
            start = self.rng.integers(0, len(sea) - WINDOW - 1, self.size)
            cut = sea[start[:, None] + span]
            self.out.put((cut[:, :-1].reshape(self.size, -1), cut[:, -1]))


class Forecaster(tf.Module):
    def __init__(self, width):
        super().__init__()
        sizes = [WINDOW * SENSORS, width, width, width, SENSORS]
        self.w = [
            tf.Variable(tf.random.normal([a, b]) * (2.0 / a) ** 0.5)
            for a, b in zip(sizes, sizes[1:])
        ]
        self.b = [tf.Variable(tf.zeros([b])) for b in sizes[1:]]

    def __call__(self, x):
        for w, b in zip(self.w[:-1], self.b[:-1]):
            x = tf.nn.relu(x @ w + b)
        return x @ self.w[-1] + self.b[-1]


class Learner:
    def __init__(self, width, lr):
        self.net = Forecaster(width)
        self.params = list(self.net.trainable_variables)
        self.vel = [tf.Variable(tf.zeros_like(p)) for p in self.params]
        self.lr = tf.Variable(lr)

    @tf.function
    def absorb(self, x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self.net(x) - y) ** 2)
        grads, _ = tf.clip_by_global_norm(tape.gradient(loss, self.params), 1.0)
        for p, v, g in zip(self.params, self.vel, grads):
            v.assign(0.9 * v + g)
            p.assign_sub(self.lr * v)
        return loss


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--batches", type=int, default=200, help="from each buoy")
    ap.add_argument("--size", type=int, default=384)
    ap.add_argument("--width", type=int, default=1024)
    args = ap.parse_args()
    tf.random.set_seed(103)
    inbox = queue.Queue(maxsize=16)
    buoys = [Buoy(i, inbox, args.batches, args.size) for i in range(2)]
    learner = Learner(args.width, 0.02)
    t0 = time.time()
    for b in buoys:
        b.start()
    smooth, peak = None, 0.0
    for k in range(2 * args.batches):
        x, y = inbox.get()
        loss = float(learner.absorb(tf.constant(x), tf.constant(y)))
        smooth = loss if smooth is None else 0.95 * smooth + 0.05 * loss
        if loss > 3 * smooth and k > 50:
            learner.lr.assign(0.03)
            peak = max(peak, loss)
        if k % 50 == 49:
            print(
                f"batch {k + 1:4d} error {smooth:.4f} waiting {inbox.qsize():2d} {time.time() - t0:.1f}s"
            )
    for b in buoys:
        b.join()
    print(f"worst surprise {peak:.3f}")
    print("TRAIN_SECONDS %.2f" % (time.time() - t0))


if __name__ == "__main__":
    main()
