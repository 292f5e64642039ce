"""Forecasts kelp canopy cover per coastal cell from weather and a learned
vector for each cell. A plain hand-written trainer."""

import numpy as np
import tensorflow as tf

CELLS = 300_000
WIDTH = 32
WEATHER = 14
BATCH = 512


def observations(n, rng):
    cell = rng.integers(0, CELLS, n).astype("int32")
    w = rng.normal(0, 1, (n, WEATHER)).astype("float32")
    lat = cell / CELLS
    cover = (
        np.sin(9 * lat)
        + 0.4 * w[:, 0] * np.cos(5 * lat)
        - 0.3 * np.maximum(w[:, 1], 0)
        + 0.1 * rng.normal(0, 1, n)
    )
    return cell, w, cover.astype("float32")


class CanopyModel(tf.Module):
    def __init__(self):
        super().__init__()
        self.cells = tf.Variable(tf.random.normal((CELLS, WIDTH), stddev=0.1))
        self.d1 = tf.Variable(tf.random.normal((WIDTH + WEATHER, 512), stddev=0.15))
        self.d2 = tf.Variable(tf.random.normal((512, 256), stddev=0.06))
        self.d3 = tf.Variable(tf.random.normal((256, 1), stddev=0.06))

    def __call__(self, cell, weather):
        h = tf.concat([tf.gather(self.cells, cell), weather], 1)
        h = tf.nn.relu(h @ self.d1)
        h = tf.nn.relu(h @ self.d2)
        return tf.squeeze(h @ self.d3, 1)


class Trainer:
    def __init__(self, model, lr, settle):
        self.model = model
        self.opt = tf.keras.optimizers.SGD(lr)
        self.settle = settle
        self.smooth = None
        self.best = np.inf
        self.best_at = 0
        self.kept = None

    @tf.function
    def update(self, cell, weather, cover):
        with tf.GradientTape() as tape:
            err = self.model(cell, weather) - cover
            loss = tf.reduce_mean(tf.square(err))
        v = self.model.trainable_variables
        self.opt.apply_gradients(zip(tape.gradient(loss, v), v))
        return loss

    def observe(self, step, loss):
        self.smooth = loss if self.smooth is None else 0.998 * self.smooth + 0.002 * loss
        if step >= self.settle and self.smooth < self.best:
            self.best, self.best_at = self.smooth, step
            self.kept = [v.numpy().copy() for v in self.model.trainable_variables]

    def restore(self):
        for v, k in zip(self.model.trainable_variables, self.kept):
            v.assign(k)


def main():
    tf.random.set_seed(9)
    rng = np.random.default_rng(9)
    cell, weather, cover = observations(400_000, rng)
    tc, tw, ty = observations(20_000, rng)
    trainer = Trainer(CanopyModel(), lr=0.01, settle=400)
    step = 0
    for epoch in range(3):
        order = rng.permutation(len(cell))
        for lo in range(0, len(order) - BATCH + 1, BATCH):
            i = order[lo : lo + BATCH]
            loss = trainer.update(
                tf.constant(cell[i]), tf.constant(weather[i]), tf.constant(cover[i])
            )
            trainer.observe(step, float(loss))
            step += 1
        print(
            "epoch",
            epoch,
            "smooth",
            round(trainer.smooth, 4),
            "best at",
            trainer.best_at,
            flush=True,
        )
    trainer.restore()
    err = trainer.model(tf.constant(tc), tf.constant(tw)) - ty
    print("test rmse", float(tf.sqrt(tf.reduce_mean(err**2))))


if __name__ == "__main__":
    main()
