"""Pressure comfort model for prosthetic sockets, learned online while walking.

Each stride delivers a block of sensor frames.  Inputs are standardised with the
mean and spread of everything that was worn so far, as the clinic asked.
"""

import argparse
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf

SENSORS = 80
FRAMES = 1536


class Walker:
    """Toy gait: pressures are mixtures of a few harmonics, with slow drift."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.mix = self.rng.normal(size=(6, SENSORS)).astype(np.float32)
        self.sore = self.rng.normal(size=SENSORS).astype(np.float32) / np.sqrt(SENSORS)
        self.drift = np.zeros(SENSORS, np.float32)

    def stride(self):
        phase = np.linspace(0, 2 * np.pi, FRAMES, dtype=np.float32) + self.rng.normal(0, 0.2)
        basis = np.stack([f(k * phase) for k in (1, 2, 3) for f in (np.sin, np.cos)], 1)
        load = self.rng.lognormal(0, 0.2)
        self.drift += self.rng.normal(0, 0.02, SENSORS).astype(np.float32)
        p = load * basis @ self.mix + 4 + self.drift
        p += self.rng.standard_normal(p.shape, dtype=np.float32) * 0.3
        pain = np.maximum(p @ self.sore - 1, 0)[:, None]
        return p.astype(np.float32), pain.astype(np.float32)


class WornStatistics:
    def __init__(self):
        self.frames = []

    def update(self, p):
        self.frames.append(p)
        worn = tf.concat(self.frames, axis=0)
        mean, var = tf.nn.moments(worn, axes=[0])
        return mean, tf.sqrt(var + 1e-4)


class ComfortNet(tf.Module):
    def __init__(self, hidden=(384, 192)):
        super().__init__()
        sizes = (SENSORS,) + tuple(hidden) + (1,)
        self.layers = []
        for i, (a, b) in enumerate(zip(sizes[:-1], sizes[1:])):
            w = tf.Variable(tf.random.normal((a, b), stddev=(2.0 / a) ** 0.5), name=f"w{i}")
            self.layers.append((w, tf.Variable(tf.zeros(b), name=f"b{i}")))
        self.velocity = [
            tf.Variable(tf.zeros_like(v), trainable=False) for v in self.trainable_variables
        ]

    def __call__(self, x):
        for w, b in self.layers[:-1]:
            x = tf.nn.relu(x @ w + b)
        w, b = self.layers[-1]
        return x @ w + b

    @tf.function
    def adapt(self, p, pain, mean, spread, rate):
        variables = self.trainable_variables
        with tf.GradientTape() as tape:
            err = self((p - mean) / spread) - pain
            loss = tf.reduce_mean(tf.where(tf.abs(err) < 1.0, 0.5 * err**2, tf.abs(err) - 0.5))
        grads, _ = tf.clip_by_global_norm(tape.gradient(loss, variables), 2.0)
        for v, m, g in zip(variables, self.velocity, grads):
            m.assign(0.9 * m + g)
            v.assign_sub(rate * m)
        return loss


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--strides", type=int, default=255)
    p.add_argument("--rate", type=float, default=0.02)
    p.add_argument("--seed", type=int, default=8)
    return p.parse_args()


def main():
    args = parse()
    tf.random.set_seed(args.seed)
    walker, stats, net = Walker(args.seed), WornStatistics(), ComfortNet()
    log = []
    for n in range(1, args.strides + 1):
        p, pain = walker.stride()
        p = tf.convert_to_tensor(p)
        mean, spread = stats.update(p)
        rate = tf.constant(args.rate / (1 + n / 100))
        loss = net.adapt(p, tf.convert_to_tensor(pain), mean, spread, rate)
        log.append(float(loss))
        if n % 51 == 0:
            print(f"stride {n:4d}  comfort loss {np.mean(log[-51:]):.4f}")
    print("best block", f"{min(log):.4f}")


if __name__ == "__main__":
    main()
