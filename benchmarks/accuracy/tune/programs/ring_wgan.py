"""WGAN-GP for a ring of Gaussians, as tf.Module with a hand-written trainer.

Every generator update follows five critic updates on a larger batch;
the distance to fresh data is measured every few hundred iterations.
"""

import time

import numpy as np
import tensorflow as tf

CONFIG = {
    "iterations": 2400,
    "critic_rounds": 5,
    "batch": 128,
    "gen_batch": 256,
    "width": 96,
    "noise": 8,
    "penalty": 5.0,
    "lr": 5e-4,
    "report": 300,
}


class MLP(tf.Module):
    def __init__(self, sizes, seed, name=None):
        super().__init__(name=name)
        gen = tf.random.Generator.from_seed(seed)
        self.weights = [
            tf.Variable(gen.normal((a, b), stddev=(2.0 / a) ** 0.5))
            for a, b in zip(sizes[:-1], sizes[1:])
        ]
        self.biases = [tf.Variable(tf.zeros(b)) for b in sizes[1:]]

    def __call__(self, x):
        *hidden, last = list(zip(self.weights, self.biases))
        for w, b in hidden:
            x = tf.nn.leaky_relu(x @ w + b, 0.2)
        return x @ last[0] + last[1]


class Adam(tf.Module):
    """Plain Adam on tf.Variables."""

    def __init__(self, variables, lr, beta1=0.0, beta2=0.9, name=None):
        super().__init__(name=name)
        self.variables_, self.lr, self.b1, self.b2 = variables, tf.Variable(lr), beta1, beta2
        self.t = tf.Variable(0.0)
        self.m = [tf.Variable(tf.zeros_like(v)) for v in variables]
        self.v = [tf.Variable(tf.zeros_like(v)) for v in variables]

    def apply(self, grads):
        self.t.assign_add(1.0)
        fix = tf.sqrt(1 - self.b2**self.t) / (1 - self.b1**self.t)
        for var, m, v, g in zip(self.variables_, self.m, self.v, grads):
            m.assign(self.b1 * m + (1 - self.b1) * g)
            v.assign(self.b2 * v + (1 - self.b2) * g * g)
            var.assign_sub(self.lr * fix * m / (tf.sqrt(v) + 1e-7))


def real_points(n):
    k = tf.random.uniform((n,), 0, 8, tf.int32)
    angle = tf.cast(k, tf.float32) * (np.pi / 4)
    centre = tf.stack([tf.cos(angle), tf.sin(angle)], axis=1) * 1.5
    return centre + 0.06 * tf.random.normal((n, 2))


class WassersteinTrainer:
    def __init__(self, cfg):
        self.cfg = cfg
        w = cfg["width"]
        self.gen = MLP((cfg["noise"], w, w, w, 2), seed=1)
        self.critic = MLP((2, w, w, w, 1), seed=2)
        self.gen_opt = Adam(self.gen.trainable_variables, cfg["lr"])
        self.critic_opt = Adam(self.critic.trainable_variables, cfg["lr"])

    @tf.function
    def critic_updates(self):
        gap = tf.constant(0.0)
        for _ in tf.range(self.cfg["critic_rounds"]):
            gap = self.critic_update()
        return gap

    def critic_update(self):
        n = self.cfg["batch"]
        real = real_points(n)
        fake = self.gen(tf.random.normal((n, self.cfg["noise"])))
        mix = tf.random.uniform((n, 1))
        between = mix * real + (1 - mix) * fake
        with tf.GradientTape() as tape:
            with tf.GradientTape() as inner:
                inner.watch(between)
                score = self.critic(between)
            slope = inner.gradient(score, between)
            norm = tf.sqrt(tf.reduce_sum(slope**2, axis=1) + 1e-12)
            gap = tf.reduce_mean(self.critic(real)) - tf.reduce_mean(self.critic(fake))
            loss = self.cfg["penalty"] * tf.reduce_mean((norm - 1.0) ** 2) - gap
        self.critic_opt.apply(tape.gradient(loss, self.critic.trainable_variables))
        return gap

    @tf.function
    def generator_update(self):
        noise = tf.random.normal((self.cfg["gen_batch"], self.cfg["noise"]))
        with tf.GradientTape() as tape:
            loss = -tf.reduce_mean(self.critic(self.gen(noise)))
        self.gen_opt.apply(tape.gradient(loss, self.gen.trainable_variables))
        return loss

    @tf.function
    def energy_distance(self, n=1000):
        a, b = real_points(n), self.gen(tf.random.normal((n, self.cfg["noise"])))
        mean_dist = lambda p, q: tf.reduce_mean(tf.norm(p[:, None] - q[None] + 1e-9, axis=-1))
        return 2 * mean_dist(a, b) - mean_dist(a, a) - mean_dist(b, b)

    def run(self):
        start = time.time()
        gaps = []
        print(f"before: energy distance {float(self.energy_distance()):.4f}")
        for it in range(1, self.cfg["iterations"] + 1):
            gap = self.critic_updates()
            self.generator_update()
            gaps.append(gap.numpy())
            if it == 2 * self.cfg["iterations"] // 3:
                for opt in (self.gen_opt, self.critic_opt):
                    opt.lr.assign(opt.lr * 0.3)
            if it % self.cfg["report"] == 0:
                print(
                    f"iter {it:5d}  critic gap {np.mean(gaps[-100:]):.4f}  "
                    f"energy distance {float(self.energy_distance()):.4f}  "
                    f"{time.time() - start:5.1f} s",
                    flush=True,
                )


if __name__ == "__main__":
    tf.random.set_seed(0)
    WassersteinTrainer(CONFIG).run()
