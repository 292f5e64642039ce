"""Sales forecasts for ice cream vans: a shared attention model, adapted to each van's
round in turn, with the shared weights drifting towards every adapted copy."""

import argparse

import numpy as np
import tensorflow as tf

WINDOW = 36
FEATURES = 6


def van_history(van, hours=1600):
    rng = np.random.default_rng(1000 + van)
    t = np.arange(hours)
    heat = 18 + 8 * np.sin(2 * np.pi * t / 400 + van) + rng.normal(0, 2, hours)
    hour = t % 12
    school = ((hour > 5) & (hour < 8)).astype("float32") * rng.uniform(0.2, 2)
    rain = (rng.random(hours) < 0.15).astype("float32")
    sales = np.maximum(0, 0.4 * heat - 5) * (1 - 0.7 * rain) + 4 * school
    sales = sales * rng.uniform(0.6, 1.4) + rng.normal(0, 0.4, hours)
    cols = [sales / 8, heat / 30, hour / 12, school, rain, (t // 12 % 7) / 7]
    return np.stack(cols, axis=1).astype("float32")


def windows(series, rng, n):
    start = rng.integers(0, len(series) - WINDOW - 1, n)
    idx = start[:, None] + np.arange(WINDOW)
    return series[idx], series[start + WINDOW, 0]


class Block(tf.keras.layers.Layer):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm1 = tf.keras.layers.LayerNormalization()
        self.att = tf.keras.layers.MultiHeadAttention(heads, dim // heads)
        self.norm2 = tf.keras.layers.LayerNormalization()
        self.up = tf.keras.layers.Dense(2 * dim, activation="gelu")
        self.down = tf.keras.layers.Dense(dim)

    def call(self, x):
        h = self.norm1(x)
        x = x + self.att(h, h, use_causal_mask=True)
        return x + self.down(self.up(self.norm2(x)))


def build(dim=32, depth=3, heads=4):
    inp = tf.keras.Input((WINDOW, FEATURES))
    x = tf.keras.layers.Dense(dim)(inp)
    pos = tf.keras.layers.Embedding(WINDOW, dim)(tf.range(WINDOW))
    x = x + pos
    for _ in range(depth):
        x = Block(dim, heads)(x)
    x = tf.keras.layers.LayerNormalization()(x[:, -1])
    mean = tf.keras.layers.Dense(1)(x)
    return tf.keras.Model(inp, mean[:, 0])


class RoundTrainer:
    """Fits the model to one van's history."""

    def __init__(self, model, lr):
        self.model = model
        self.lr = lr

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            err = self.model(x, training=True) - y
            loss = tf.reduce_mean(tf.where(err > 0, 0.4 * err, -0.6 * err))
        variables = self.model.trainable_variables
        grads, _ = tf.clip_by_global_norm(tape.gradient(loss, variables), 1.0)
        for v, g in zip(variables, grads):
            v.assign_sub(self.lr * g)
        return loss

    def run(self, series, rng, steps, batch):
        total = 0.0
        for _ in range(steps):
            x, y = windows(series, rng, batch)
            total += self.step(tf.constant(x), tf.constant(y))
        return float(total) / steps


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--rounds", type=int, default=22)
    ap.add_argument("--vans", type=int, default=9)
    ap.add_argument("--steps", type=int, default=45)
    ap.add_argument("--batch", type=int, default=48)
    ap.add_argument("--lr", type=float, default=0.05)
    ap.add_argument("--meta-lr", type=float, default=0.4)
    args = ap.parse_args()

    tf.keras.utils.set_random_seed(11)
    rng = np.random.default_rng(11)
    fleet = [van_history(v) for v in range(args.vans)]
    model = build()
    shared = model.get_weights()

    for r in range(args.rounds):
        van = int(rng.integers(args.vans))
        model.set_weights(shared)
        trainer = RoundTrainer(model, args.lr)
        loss = trainer.run(fleet[van], rng, args.steps, args.batch)
        adapted = model.get_weights()
        scale = args.meta_lr * (1 - r / args.rounds)
        shared = [s + scale * (a - s) for s, a in zip(shared, adapted)]
        print(f"round {r + 1:2d} van {van} loss {loss:.4f}", flush=True)

    model.set_weights(shared)
    for van, series in enumerate(fleet[:3]):
        x, y = windows(series, rng, 256)
        print(f"van {van} mae {np.abs(model.predict(x, verbose=0) - y).mean():.4f}")


if __name__ == "__main__":
    main()
