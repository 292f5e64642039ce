"""Depth of cracks in stucco from raking-light patches.

Layer-wise learning rates: blocks near the image learn slowly, blocks near
the output learn fast (plain SGD, each block with its own rate).
"""

from dataclasses import dataclass

import numpy as np
import tensorflow as tf


@dataclass
class Config:
    size: int = 20
    batch: int = 10
    steps: int = 64
    blocks: int = 5
    width: int = 16
    top_lr: float = 0.05
    decay: float = 0.75
    clip: float = 1.0
    seed: int = 3


def draw_patches(cfg, rng, n):
    """Plaster grain, a light gradient, and one crack of some depth."""
    yy, xx = np.mgrid[0 : cfg.size, 0 : cfg.size].astype(np.float32) / cfg.size - 0.5
    angle = rng.uniform(0, np.pi, (n, 1, 1))
    shift = rng.uniform(-0.2, 0.2, (n, 1, 1))
    depth = rng.uniform(0.1, 1.0, (n, 1, 1))
    wobble = 0.05 * np.sin(9 * xx + rng.uniform(0, 6, (n, 1, 1)))
    distance = xx * np.cos(angle) + yy * np.sin(angle) + shift + wobble
    shade = -depth * np.exp(-((distance / 0.05) ** 2))
    rim = 0.4 * depth * np.exp(-(((distance - 0.08) / 0.04) ** 2))
    grain = rng.normal(0, 0.15, (n, cfg.size, cfg.size))
    light = 0.3 * (xx * rng.normal(size=(n, 1, 1)) + yy * rng.normal(size=(n, 1, 1)))
    image = (shade + rim + grain + light).astype(np.float32)
    return image[..., None], depth.reshape(-1, 1).astype(np.float32)


class Block(tf.keras.layers.Layer):
    def __init__(self, width, pool):
        super().__init__()
        self.first = tf.keras.layers.Conv2D(width, 3, padding="same", activation="relu")
        self.second = tf.keras.layers.Conv2D(width, 3, padding="same")
        self.norm = tf.keras.layers.LayerNormalization()
        self.pool = tf.keras.layers.AveragePooling2D(2) if pool else None

    def call(self, x):
        h = self.norm(self.second(self.first(x)))
        x = tf.nn.relu(h + x if h.shape[-1] == x.shape[-1] else h)
        return self.pool(x) if self.pool else x


class DepthNet:
    def __init__(self, cfg):
        self.blocks = [Block(cfg.width, pool=i in (2, 4)) for i in range(cfg.blocks)]
        self.head = tf.keras.Sequential(
            [tf.keras.layers.GlobalAveragePooling2D(), tf.keras.layers.Dense(1)]
        )

    @tf.function
    def __call__(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)

    def groups(self):
        return [part.trainable_variables for part in self.blocks + [self.head]]


def layer_rates(cfg):
    return [cfg.top_lr * cfg.decay ** (cfg.blocks - i) for i in range(cfg.blocks + 1)]


def train_batch(cfg, net, rates, x, y):
    with tf.GradientTape(persistent=True) as tape:
        loss = tf.reduce_mean(tf.keras.losses.huber(y, net(x), delta=0.3))
    norms = []
    for group, rate in zip(net.groups(), rates):
        grads = tape.gradient(loss, group)
        grads, norm = tf.clip_by_global_norm(grads, cfg.clip)
        for variable, grad in zip(group, grads):
            variable.assign_sub(rate * grad)
        norms.append(norm)
    del tape
    return loss, tf.stack(norms)


def main(cfg=Config()):
    rng = np.random.default_rng(cfg.seed)
    tf.random.set_seed(cfg.seed)
    x, y = draw_patches(cfg, rng, 3000)
    x_test, y_test = draw_patches(cfg, rng, 200)

    net = DepthNet(cfg)
    net(tf.constant(x[:1]))
    rates = layer_rates(cfg)

    recent = tf.Variable(0.0)
    for step in range(cfg.steps):
        rows = rng.integers(0, len(x), cfg.batch)
        loss, norms = train_batch(cfg, net, rates, tf.constant(x[rows]), tf.constant(y[rows]))
        recent.assign(0.95 * recent + 0.05 * loss)
        if (step + 1) % 16 == 0:
            print(f"{step + 1:4d}  loss {recent.numpy():.4f}  norms", norms.numpy().round(3))

    error = np.abs(net(tf.constant(x_test)).numpy() - y_test).mean()
    print(f"mean error of the depth: {error:.3f} mm")


if __name__ == "__main__":
    main()
