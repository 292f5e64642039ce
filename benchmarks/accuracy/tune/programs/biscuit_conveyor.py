import json
import os
import queue
import tempfile
import threading

import numpy as np
import tensorflow as tf

SIDE = 40
KINDS = 5
LINE_SPEEDS = (0.6, 0.9, 1.3)


class LineBoard:
    """Writes what the training says to the plant's board file, off the training thread."""

    def __init__(self, path):
        self.path = path
        self.rows = queue.Queue()
        self.closing = threading.Event()
        self.written = 0
        self.ema = None
        self.worker = threading.Thread(target=self.drain, daemon=True)
        self.worker.start()

    def post(self, **row):
        self.rows.put(row)

    def drain(self):
        with open(self.path, "w") as board:
            while True:
                try:
                    row = self.rows.get_nowait()
                except queue.Empty:
                    if self.closing.is_set():
                        return
                    continue
                self.ema = row["loss"] if self.ema is None else 0.98 * self.ema + 0.02 * row["loss"]
                board.write(json.dumps(dict(row, ema=round(self.ema, 5))) + "\n")
                self.written += 1

    def close(self):
        self.closing.set()
        self.worker.join()


def biscuits(rng, n):
    yy, xx = np.mgrid[:SIDE, :SIDE] - SIDE / 2
    kind = rng.integers(0, KINDS, n)
    speed = rng.choice(LINE_SPEEDS, n)
    cx, cy = rng.normal(0, 3, (2, n, 1, 1))
    radius = np.hypot((xx - cx) / speed[:, None, None], yy - cy)
    angle = np.arctan2(yy - cy, xx - cx)
    edge = 11 + 1.6 * np.cos(angle * (kind + 3)[:, None, None] + rng.uniform(0, 6, (n, 1, 1)))
    img = 1 / (1 + np.exp(radius - edge)) + rng.normal(0, 0.15, (n, SIDE, SIDE))
    return img[..., None].astype("float32"), kind.astype("int64")


def sobel_bank():
    k = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], "float32")
    return np.stack([k, k.T], -1)[:, :, None, :]


class Conveyor(tf.Module):
    def __init__(self):
        super().__init__()
        g = tf.random.Generator.from_seed(4)
        self.edges = tf.constant(sobel_bank())

        def w(*shape):
            fan = np.prod(shape[:-1])
            return tf.Variable(g.normal(shape) * np.sqrt(2.0 / fan))

        self.k1, self.k2, self.k3 = w(5, 5, 3, 16), w(3, 3, 16, 32), w(3, 3, 32, 48)
        self.w1, self.b1 = w(5 * 5 * 48, 96), tf.Variable(tf.zeros(96))
        self.w2, self.b2 = w(96, KINDS), tf.Variable(tf.zeros(KINDS))
        self.velocity = [
            tf.Variable(tf.zeros_like(v), trainable=False) for v in self.trainable_variables
        ]

    def __call__(self, x):
        x = tf.concat([x, tf.nn.conv2d(x, self.edges, 1, "SAME")], -1)
        x = tf.nn.relu(tf.nn.conv2d(x, self.k1, 2, "SAME"))
        x = tf.nn.relu(tf.nn.conv2d(x, self.k2, 2, "SAME"))
        x = tf.nn.relu(tf.nn.conv2d(x, self.k3, 2, "SAME"))
        x = tf.reshape(x, [tf.shape(x)[0], -1])
        x = tf.nn.relu(x @ self.w1 + self.b1)
        return x @ self.w2 + self.b2

    @tf.function
    def learn(self, x, y, rate):
        variables = self.trainable_variables
        with tf.GradientTape() as tape:
            logits = self(x)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
        for v, m, g in zip(variables, self.velocity, tape.gradient(loss, variables)):
            m.assign(0.9 * m - rate * g)
            v.assign_add(m)
        hit = tf.reduce_mean(tf.cast(tf.argmax(logits, -1) == y, tf.float32))
        return loss, hit


def main():
    rng = np.random.default_rng(8)
    images, kinds = biscuits(rng, 6000)
    board = LineBoard(os.path.join(tempfile.mkdtemp(prefix="biscuit_"), "board.jsonl"))
    net = Conveyor()
    stream = (
        tf.data.Dataset.from_tensor_slices((images, kinds))
        .shuffle(6000, seed=1)
        .repeat()
        .batch(64, drop_remainder=True)
        .prefetch(2)
    )
    total = 1500
    for step, (x, y) in enumerate(stream.take(total)):
        rate = tf.constant(0.01 * (0.5 + 0.5 * np.cos(np.pi * step / total)), tf.float32)
        loss, hit = net.learn(x, y, rate)
        board.post(step=step, loss=float(loss), hit=float(hit))
        if step % 150 == 149:
            print(f"{step + 1:5d}  loss {float(loss):.3f}  hit {float(hit):.3f}")
    board.close()
    print("rows on the board:", board.written)


if __name__ == "__main__":
    main()
