"""Neural cellular automaton that grows a felt ornament; sample pool, rollouts that get
longer from stage to stage."""

import dataclasses
import time

import numpy as np
import tensorflow as tf


@dataclasses.dataclass
class Felt:
    size: int = 32
    channels: int = 16
    hidden: int = 96
    pool: int = 256
    batch: int = 8
    stages: tuple = ((8, 50), (16, 40), (24, 40))  # (rollout length, updates)
    lr: float = 1.5e-3
    seed: int = 8


def ornament(size):
    """A ram's horn, roughly."""
    yy, xx = np.mgrid[-1 : 1 : size * 1j, -1 : 1 : size * 1j]
    r, phi = np.hypot(xx, yy), np.arctan2(yy, xx)
    horn = (np.abs(r - 0.12 * (phi + np.pi) - 0.05) < 0.12) & (r < 0.8)
    img = np.zeros((size, size, 4), "float32")
    img[horn] = (0.7, 0.15, 0.1, 1.0)
    img[(r < 0.15)] = (0.9, 0.8, 0.3, 1.0)
    return img


def seed_cell(cfg):
    s = np.zeros((cfg.size, cfg.size, cfg.channels), "float32")
    s[cfg.size // 2, cfg.size // 2, 3:] = 1.0
    return s


class Rule(tf.Module):
    def __init__(self, cfg):
        super().__init__()
        sob = np.outer([1, 2, 1], [-1, 0, 1]) / 8.0
        ident = np.outer([0, 1, 0], [0, 1, 0])
        k = np.stack([ident, sob, sob.T], -1).astype("float32")[:, :, None, :]
        self.percept = tf.constant(np.repeat(k, cfg.channels, 2))
        g = np.random.default_rng(cfg.seed)
        c3 = cfg.channels * 3
        self.w1 = tf.Variable(g.normal(size=(1, 1, c3, cfg.hidden)).astype("float32") / c3**0.5)
        self.b1 = tf.Variable(tf.zeros(cfg.hidden))
        self.w2 = tf.Variable(tf.zeros((1, 1, cfg.hidden, cfg.channels)))

    def __call__(self, x):
        p = tf.nn.depthwise_conv2d(x, self.percept, (1, 1, 1, 1), "SAME")
        d = tf.nn.conv2d(
            tf.nn.relu(tf.nn.conv2d(p, self.w1, 1, "VALID") + self.b1), self.w2, 1, "VALID"
        )
        fire = tf.random.uniform(tf.shape(x[..., :1])) < 0.5
        x = x + d * tf.cast(fire, tf.float32)
        alive = tf.nn.max_pool2d(x[..., 3:4], 3, 1, "SAME") > 0.1
        return x * tf.cast(alive, tf.float32)


class Workshop:
    def __init__(self, cfg):
        self.cfg = cfg
        self.rule = Rule(cfg)
        self.target = tf.constant(ornament(cfg.size))
        self.opt = tf.keras.optimizers.Adam(cfg.lr)
        self.opt.build(self.rule.trainable_variables)
        self.rng = np.random.default_rng(cfg.seed + 1)
        self.seed = seed_cell(cfg)
        self.pool = np.repeat(self.seed[None], cfg.pool, 0)

    @tf.function
    def update(self, x, length):
        with tf.GradientTape() as tape:
            for _ in tf.range(length):
                x = self.rule(x)
            each = tf.reduce_mean(tf.math.squared_difference(x[..., :4], self.target), (1, 2, 3))
            loss = tf.reduce_mean(each)
        v = self.rule.trainable_variables
        grads = [g / (tf.norm(g) + 1e-8) for g in tape.gradient(loss, v)]
        self.opt.apply_gradients(zip(grads, v))
        return loss, each, x

    def stage(self, length, updates):
        log = []
        for _ in range(updates):
            idx = self.rng.choice(self.cfg.pool, self.cfg.batch, replace=False)
            start = self.pool[idx]
            start[0] = self.seed
            loss, each, grown = self.update(tf.constant(start), tf.constant(length))
            self.pool[idx] = grown.numpy()
            log.append(float(loss))
        return np.mean(log[:5]), np.mean(log[-5:])


def main():
    cfg = Felt()
    tf.random.set_seed(cfg.seed)
    shop = Workshop(cfg)
    for length, updates in cfg.stages:
        t = time.perf_counter()
        first, last = shop.stage(length, updates)
        dt = time.perf_counter() - t
        print(
            f"rollout {length:2d}: {first:.4f} -> {last:.4f}  ({1000 * dt / updates:.0f} ms each)"
        )


if __name__ == "__main__":
    main()
