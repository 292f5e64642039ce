"""A thread reads CSV files ahead of the training; the queue is never empty."""

import csv
import queue
import threading

import numpy as np
import tensorflow as tf

for part in range(4):
    with open(f"part{part}.csv", "w", newline="") as f:
        csv.writer(f).writerows(np.random.rand(640, 21).round(4).tolist())

ready = queue.Queue(maxsize=30)


def read_forever():
    while True:
        for part in range(4):
            with open(f"part{part}.csv", newline="") as f:
                rows = [list(map(float, row)) for row in csv.reader(f)]
            table = np.array(rows, "float32")
            for k in range(0, len(table), 64):
                ready.put((table[k : k + 64, :20], table[k : k + 64, 20:]))


threading.Thread(target=read_forever, daemon=True).start()

model = tf.keras.Sequential(
    [tf.keras.Input((20,))]
    + [tf.keras.layers.Dense(512, "relu")] * 1
    + [tf.keras.layers.Dense(512, "relu"), tf.keras.layers.Dense(1)]
)
model.compile("adam", "mse")
for step in range(900):
    x, y = ready.get()
    logs = model.train_on_batch(x, y, return_dict=True)
    if step % 100 == 0:
        print(step, logs)
