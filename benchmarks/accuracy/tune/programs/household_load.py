"""Stateful GRU that forecasts the electric load of households, trained chunk by chunk."""

import argparse

import numpy as np
import tensorflow as tf


def make_series(n_homes, n_hours, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(n_hours)
    phase = rng.uniform(0, 6.28, size=(n_homes, 1))
    daily = 0.6 * np.sin(2 * np.pi * t / 24 + phase)
    weekly = 0.2 * np.sin(2 * np.pi * t / 168)
    noise = 0.1 * rng.normal(size=(n_homes, n_hours))
    temp = 0.5 * np.sin(2 * np.pi * t / 24) + 0.1 * rng.normal(size=n_hours)
    load = daily + weekly + noise + 0.3 * temp
    feats = np.stack(
        [
            load,
            np.broadcast_to(temp, load.shape),
            np.broadcast_to(np.cos(2 * np.pi * t / 24), load.shape),
        ],
        axis=-1,
    )
    return feats.astype(np.float32)


class LoadForecaster(tf.Module):
    def __init__(self, units, homes):
        super().__init__()
        self.cell = tf.keras.layers.GRUCell(units)
        self.head = tf.keras.layers.Dense(1)
        self.cell.build((homes, 3))
        self.head.build((homes, units))
        self.units = units
        self.homes = homes

    @property
    def weights(self):
        return self.cell.trainable_variables + self.head.trainable_variables

    def initial_state(self):
        return tf.zeros((self.homes, self.units))

    def unroll(self, chunk, state):
        outputs = []
        for hour in range(chunk.shape[1]):
            out, state = self.cell(chunk[:, hour], state)
            if isinstance(state, (list, tuple)):
                state = state[0]
            outputs.append(self.head(out))
        return tf.concat(outputs, axis=1), state


class Trainer:
    def __init__(self, model, lr, chunk):
        self.model = model
        self.optimizer = tf.keras.optimizers.Adam(lr)
        self.chunk = chunk

    def chunks(self, series):
        for start in range(0, series.shape[1] - self.chunk, self.chunk):
            x = tf.constant(series[:, start : start + self.chunk])
            y = tf.constant(series[:, start + 1 : start + self.chunk + 1, 0])
            yield x, y

    def run_epoch(self, series):
        state = self.model.initial_state()
        total, n = 0.0, 0
        with tf.GradientTape(persistent=True) as tape:
            for x, y in self.chunks(series):
                pred, state = self.model.unroll(x, state)
                loss = tf.reduce_mean(tf.square(pred - y))
                grads = tape.gradient(loss, self.model.weights)
                grads, _ = tf.clip_by_global_norm(grads, 1.0)
                self.optimizer.apply_gradients(zip(grads, self.model.weights))
                total += float(loss)
                n += 1
        return total / n

    def evaluate(self, series):
        state = self.model.initial_state()
        errors = []
        for x, y in self.chunks(series):
            pred, state = self.model.unroll(x, state)
            errors.append(float(tf.reduce_mean(tf.abs(pred - y))))
        return np.mean(errors)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--homes", type=int, default=64)
    p.add_argument("--hours", type=int, default=121)
    p.add_argument("--chunk", type=int, default=8)
    p.add_argument("--units", type=int, default=64)
    p.add_argument("--epochs", type=int, default=10)
    p.add_argument("--lr", type=float, default=2e-3)
    args = p.parse_args()

    tf.keras.utils.set_random_seed(1)
    held_out = make_series(args.homes, args.hours, seed=99)
    model = LoadForecaster(args.units, args.homes)
    trainer = Trainer(model, args.lr, args.chunk)
    for epoch in range(args.epochs):
        series = make_series(args.homes, args.hours, seed=epoch)
        mse = trainer.run_epoch(series)
        msg = f"pass {epoch + 1:2d}: mse {mse:.4f}"
        if (epoch + 1) % 5 == 0:
            msg += f"  held-out mae {trainer.evaluate(held_out):.4f}"
        print(msg)


if __name__ == "__main__":
    main()
