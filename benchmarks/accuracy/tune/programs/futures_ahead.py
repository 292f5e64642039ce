"""Grain counting; a small pool of threads draws the next batches while the net learns."""

import collections
import concurrent.futures

import numpy as np
import tensorflow as tf

SIDE, BATCH, AHEAD = 56, 16, 6


def draw_batch(seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(5, 40, BATCH)
    images = rng.random((BATCH, SIDE, SIDE, 1), dtype=np.float32) * 0.3
    for k, count in enumerate(counts):
        rows, cols = rng.integers(0, SIDE - 3, (2, count))
        for dr in range(3):
            images[k, rows + dr, cols + 1, 0] = 1.0
            images[k, rows + 1, cols + dr, 0] = 1.0
    return images, counts.astype("float32")


class Ahead:
    """Yields batches in order; some are always being drawn."""

    def __init__(self, steps, workers=2):
        self.steps = steps
        self.pool = concurrent.futures.ThreadPoolExecutor(workers)

    def __iter__(self):
        waiting = collections.deque()
        seeds = iter(range(self.steps))
        for seed in seeds:
            waiting.append(self.pool.submit(draw_batch, seed))
            if len(waiting) == AHEAD:
                break
        while waiting:
            batch = waiting.popleft().result()
            seed = next(seeds, None)
            if seed is not None:
                waiting.append(self.pool.submit(draw_batch, seed))
            yield batch


class Counter(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.convolutions = [
            tf.keras.layers.Conv2D(filters, 3, padding="same", activation="relu")
            for filters in (16, 32, 32)
        ]
        self.density = tf.keras.layers.Conv2D(1, 1, activation="softplus")

    def call(self, x):
        for convolution in self.convolutions:
            x = convolution(x)
        return tf.reduce_sum(self.density(x), axis=[1, 2, 3]) / 100.0


model = Counter()
optimizer = tf.keras.optimizers.Adam(5e-4)
smooth = tf.keras.metrics.Mean()


@tf.function
def train_step(images, counts):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.abs(model(images) - counts))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    smooth.update_state(loss)


for step, (images, counts) in enumerate(Ahead(steps=520), 1):
    train_step(tf.constant(images), tf.constant(counts))
    if step % 70 == 0:
        print(f"step {step}: off by {float(smooth.result()):.2f} grains")
        smooth.reset_state()
