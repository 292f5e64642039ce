"""Dispatch of gas-lamp inspectors: learn the value of a street plan from
simulated nights.  Simulators run in threads and hand over finished batches.
"""

import argparse
import collections
import threading
import time

import numpy as np
import tensorflow as tf


class Mailbox:
    """Small bounded box between one simulator and the learner."""

    def __init__(self, size):
        self.size = size
        self.items = collections.deque()
        self.closed = False

    def put(self, item):
        while len(self.items) >= self.size and not self.closed:
            pass
        self.items.append(item)

    def get(self):
        while not self.items:
            time.sleep(0.0005)
        return self.items.popleft()


class NightSimulator(threading.Thread):
    def __init__(self, box, streets, batch, seed):
        super().__init__(daemon=True)
        self.box, self.streets, self.batch = box, streets, batch
        self.rng = np.random.default_rng(seed)
        self.cost = np.random.default_rng(99).uniform(0.2, 2.0, streets).astype("float32")

    def night(self):
        lamps = self.rng.random((self.batch, self.streets), dtype=np.float32)
        wind = self.rng.gamma(2.0, 0.5, (self.batch, 1)).astype("float32")
        out = (lamps * wind > 0.8).astype("float32")
        value = -(out * self.cost).sum(1) - 0.3 * np.sqrt(out.sum(1))
        return np.concatenate([lamps, wind], 1), value.astype("float32")

    def run(self):
        while not self.box.closed:
            self.box.put(self.night())


class ValueNet(tf.Module):
    def __init__(self, n_in, width):
        super().__init__()
        gen = tf.random.Generator.from_seed(4)
        sizes = [n_in, width, width, width, 1]
        self.w = [
            tf.Variable(gen.normal((a, b)) * (2.0 / a) ** 0.5) for a, b in zip(sizes, sizes[1:])
        ]
        self.b = [tf.Variable(tf.zeros(b)) for b in sizes[1:]]

    def __call__(self, x):
        for w, b in zip(self.w[:-1], self.b[:-1]):
            x = tf.nn.relu(x @ w + b)
        return tf.squeeze(x @ self.w[-1] + self.b[-1], 1)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--updates", type=int, default=90)
    p.add_argument("--simulators", type=int, default=2)
    p.add_argument("--streets", type=int, default=120)
    p.add_argument("--batch", type=int, default=1536)
    a = p.parse_args()
    tf.random.set_seed(4)
    boxes = [Mailbox(6) for _ in range(a.simulators)]
    crew = [NightSimulator(b, a.streets, a.batch, 10 + i) for i, b in enumerate(boxes)]
    net = ValueNet(a.streets + 1, 768)
    velocity = [tf.Variable(tf.zeros_like(v)) for v in net.trainable_variables]

    @tf.function(input_signature=[tf.TensorSpec((None, a.streets + 1)), tf.TensorSpec((None,))])
    def update(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.abs(net(x) - y / 20.0))
        grads = tape.gradient(loss, net.trainable_variables)
        for v, m, g in zip(net.trainable_variables, velocity, grads):
            m.assign(0.9 * m + g)
            v.assign_sub(2e-3 * m)
        return loss

    for c in crew:
        c.start()
    t0 = time.time()
    recent = collections.deque(maxlen=30)
    for i in range(a.updates):
        x, y = boxes[i % len(boxes)].get()
        recent.append(update(x, y))
        if i % 30 == 29:
            print(f"update {i + 1}: error {float(tf.add_n(list(recent))) / len(recent):.4f}")
    for b in boxes:
        b.closed = True
    for c in crew:
        c.join()
    print(f"trained {a.updates} updates in {time.time() - t0:.2f} s")


if __name__ == "__main__":
    main()
