"""Sets sluice gates from gauge readings. Plants report in the background while
the controller's model of the canal is trained on the rolling record."""

import threading
import time
from collections import deque

import numpy as np
import tensorflow as tf

GAUGES, GATES = 16, 4
HORIZON = 12
BATCH = 128
UPDATES = 1500


class Canal:
    def __init__(self, seed):
        r = np.random.default_rng(seed)
        self.r = r
        self.a = np.eye(GAUGES) * 0.9 + np.eye(GAUGES, k=1) * 0.08
        self.b = r.normal(0, 0.1, (GAUGES, GATES))
        self.x = r.normal(0, 1, GAUGES)

    def reading(self):
        u = self.r.normal(0, 1, GATES)
        self.x = np.tanh(self.a @ self.x + self.b @ u) + self.r.normal(0, 0.02, GAUGES)
        return np.concatenate([self.x, u]).astype("float32")


class Record:
    """Last readings of one canal in a ring, safe to use from two threads."""

    def __init__(self, capacity):
        self.rows = np.zeros((capacity, GAUGES + GATES), "float32")
        self.count = 0
        self.capacity = capacity
        self.lock = threading.Lock()

    def append(self, row):
        with self.lock:
            self.rows[self.count % self.capacity] = row
            self.count += 1

    def windows(self, rng):
        with self.lock:
            have = min(self.count, self.capacity)
            at = rng.integers(0, have - HORIZON, BATCH)
            return self.rows[at[:, None] + np.arange(HORIZON)]


def gauge_loop(canal, record, halt):
    while not halt.is_set():
        record.append(canal.reading())
        time.sleep(0.003)


class CanalModel(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.cell = tf.keras.layers.GRU(160, return_sequences=True)
        self.mid = tf.keras.layers.Dense(128, activation="swish")
        self.out = tf.keras.layers.Dense(GAUGES)

    def call(self, seq):
        return seq[..., :GAUGES] + self.out(self.mid(self.cell(seq)))


model = CanalModel()
opt = tf.keras.optimizers.Adam(1e-3)


@tf.function(input_signature=[tf.TensorSpec((BATCH, HORIZON, GAUGES + GATES), tf.float32)])
def update(seq):
    with tf.GradientTape() as tape:
        guess = model(seq[:, :-1])
        loss = tf.reduce_mean(tf.square(guess - seq[:, 1:, :GAUGES]))
    g = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(g, model.trainable_variables))
    return loss


def main():
    tf.random.set_seed(2)
    rng = np.random.default_rng(2)
    canal, record, halt = Canal(5), Record(20_000), threading.Event()
    for _ in range(2000):
        record.append(canal.reading())
    worker = threading.Thread(target=gauge_loop, args=(canal, record, halt), daemon=True)
    worker.start()
    recent = deque(maxlen=100)
    for i in range(UPDATES):
        recent.append(update(tf.constant(record.windows(rng))))
        if i % 150 == 149:
            mean = float(tf.reduce_mean(tf.stack(list(recent))))
            print(i + 1, "mse", round(mean, 5), "readings", record.count, flush=True)
    halt.set()
    worker.join()


if __name__ == "__main__":
    main()
