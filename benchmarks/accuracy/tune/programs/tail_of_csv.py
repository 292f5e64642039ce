"""Energy use of buildings, from one CSV file that is too large to be read at once."""

import csv
import itertools
import os
import random

import numpy as np
import tensorflow as tf

PATH = "meters.csv"
COLUMNS = ["hour", "day", "area", "floors", "age", "temp", "wind", "sun", "people", "use"]
ROWS, CHUNK = 48_000, 100


def write_file():
    random.seed(11)
    with open(PATH, "w", newline="") as f:
        w = csv.writer(f)
        w.writerow(COLUMNS)
        for _ in range(ROWS):
            values = [round(random.gauss(0, 1), 4) for _ in COLUMNS[:-1]]
            use = 2 * values[2] - values[5] + 0.3 * values[8] * values[0]
            w.writerow([*values, round(use + random.gauss(0, 0.1), 4)])


class MeterFile:
    """Gives rows by number, like an array."""

    def __init__(self, path):
        self.path = path

    def __len__(self):
        return ROWS

    def __getitem__(self, rows):
        with open(self.path, newline="") as f:
            reader = csv.reader(f)
            next(reader)
            picked = list(itertools.islice(reader, rows.start, rows.stop))
        table = np.array(picked, dtype=np.float32)
        return table[:, :-1], table[:, -1:]


if not os.path.exists(PATH):
    write_file()

net = tf.keras.Sequential(
    [
        tf.keras.layers.Input((9,)),
        tf.keras.layers.Dense(128, activation="gelu"),
        tf.keras.layers.Dense(128, activation="gelu"),
        tf.keras.layers.Dense(1),
    ]
)
opt = tf.keras.optimizers.Adam(1e-3)


@tf.function
def train(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(net(x, training=True) - y))
    opt.apply_gradients(zip(tape.gradient(loss, net.trainable_weights), net.trainable_weights))
    return loss


meters = MeterFile(PATH)
for step in range(len(meters) // CHUNK):
    x, y = meters[step * CHUNK : (step + 1) * CHUNK]
    for _ in range(2):
        loss = train(tf.constant(x), tf.constant(y))
    if step % 50 == 0:
        print(f"rows {step * CHUNK:6d}: mse {float(loss):.4f}")
