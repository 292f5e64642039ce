"""Physics-informed net for ice thickness: h_t + (c h)_x = D h_xx + a, with widening time span."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import argparse
import time

import numpy as np
import tensorflow as tf


class IceNet(tf.Module):
    def __init__(self, hidden=128, depth=3):
        super().__init__()
        g = tf.random.Generator.from_seed(31)
        sizes = [2] + [hidden] * depth + [1]
        self.w = [
            tf.Variable(g.normal([a, b]) * (1.0 / a) ** 0.5) for a, b in zip(sizes, sizes[1:])
        ]
        self.b = [tf.Variable(tf.zeros([b])) for b in sizes[1:]]

    def __call__(self, x, t):
        h = tf.concat([x, t], 1)
        for w, b in zip(self.w[:-1], self.b[:-1]):
            h = tf.tanh(h @ w + b)
        return h @ self.w[-1] + self.b[-1]


def bedrock(x):
    return tf.exp(-20.0 * (x - 0.3) ** 2)


class Trainer:
    def __init__(self, args):
        self.net = IceNet()
        self.opt = tf.keras.optimizers.Adam(
            tf.keras.optimizers.schedules.CosineDecay(2e-3, args.steps)
        )
        self.params = list(self.net.trainable_variables)
        self.opt.build(self.params)
        self.n = args.points

    def residual(self, x, t):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape(persistent=False) as inner:
                inner.watch([x, t])
                h = self.net(x, t)
            hx, ht = inner.gradient(h, [x, t])
        hxx = outer.gradient(hx, x)
        c = 0.5 - 0.2 * x
        return ht + c * hx - 0.2 * h - 0.01 * hxx - 0.1 * tf.sin(np.pi * x)

    @tf.function
    def step(self, t_max):
        x = tf.random.uniform([self.n, 1])
        t = tf.random.uniform([self.n, 1]) * t_max
        x0 = tf.random.uniform([self.n // 4, 1])
        tb = tf.random.uniform([self.n // 4, 1]) * t_max
        with tf.GradientTape() as tape:
            pde = tf.reduce_mean(self.residual(x, t) ** 2)
            init = tf.reduce_mean((self.net(x0, tf.zeros_like(x0)) - bedrock(x0)) ** 2)
            edge = tf.reduce_mean(
                (self.net(tf.zeros_like(tb), tb) - bedrock(tf.zeros_like(tb))) ** 2
            )
            loss = pde + 20.0 * init + 5.0 * edge
        self.opt.apply_gradients(zip(tape.gradient(loss, self.params), self.params))
        return pde, init, edge


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=780)
    ap.add_argument("--points", type=int, default=2000)
    ap.add_argument("--t-end", type=float, default=1.0)
    args = ap.parse_args()
    tf.random.set_seed(31)
    job = Trainer(args)
    t_max = tf.Variable(0.1, trainable=False)
    t0 = time.time()
    for k in range(args.steps):
        if k % 150 == 0:
            t_max.assign(min(args.t_end, 0.1 + 0.2 * (k // 150)))
        pde, init, edge = job.step(t_max)
        if k % 150 == 149:
            print(
                f"step {k + 1:4d} span {float(t_max):.1f} pde {float(pde):.5f} "
                f"init {float(init):.5f} edge {float(edge):.5f} {time.time() - t0:.1f}s"
            )
    xs = tf.constant(np.linspace(0, 1, 9, dtype=np.float32)[:, None])
    print("thickness at the end:", np.round(job.net(xs, tf.ones_like(xs)).numpy()[:, 0], 3))
    print("TRAIN_SECONDS %.2f" % (time.time() - t0))


if __name__ == "__main__":
    main()
