"""Silt depth along a mill leat: surrogate net trained with a curriculum of reach lengths."""

import os
import tempfile
import time
from dataclasses import dataclass

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
from tensorflow import keras


@dataclass
class Config:
    seed: int = 93
    n_surveys: int = 3000
    n_features: int = 24
    width: int = 512
    batch: int = 128
    updates: int = 240
    ramp_from: int = 221
    lr: float = 1e-3


def make_surveys(cfg):
    rng = np.random.default_rng(cfg.seed)
    x = rng.normal(size=(cfg.n_surveys, cfg.n_features)).astype("float32")
    flow = np.tanh(x[:, :6].sum(1)) + 0.4 * x[:, 6] * x[:, 7]
    silt = np.stack([flow * np.exp(-0.1 * s) + 0.05 * s * x[:, 8] for s in range(12)], axis=1)
    return x, silt.astype("float32")


class LeatNet(keras.Model):
    def __init__(self, width):
        super().__init__()
        self.trunk = keras.Sequential(
            [
                keras.layers.Dense(width, activation="gelu"),
                keras.layers.LayerNormalization(),
                keras.layers.Dense(width, activation="gelu"),
                keras.layers.Dense(width, activation="gelu"),
            ]
        )
        self.head = keras.layers.Dense(12)

    def call(self, x, training=False):
        return self.head(self.trunk(x, training=training))


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.model = LeatNet(cfg.width)
        self.model(tf.zeros((1, cfg.n_features)))
        self.opt = keras.optimizers.AdamW(cfg.lr, weight_decay=1e-4)
        self.opt.build(self.model.trainable_variables)
        self.ckpt = tf.train.Checkpoint(model=self.model, opt=self.opt)
        self.manager = tf.train.CheckpointManager(
            self.ckpt, tempfile.mkdtemp(prefix="leat_"), max_to_keep=3
        )
        self.best = np.inf

    @tf.function
    def step(self, x, y, smooth_weight):
        with tf.GradientTape() as tape:
            p = self.model(x, training=True)
            fit = tf.reduce_mean(tf.square(p - y))
            rough = tf.reduce_mean(tf.square(p[:, 2:] - 2 * p[:, 1:-1] + p[:, :-2]))
            loss = fit + smooth_weight * rough
        grads = tape.gradient(loss, self.model.trainable_variables)
        grads, _ = tf.clip_by_global_norm(grads, 1.0)
        self.opt.apply_gradients(zip(grads, self.model.trainable_variables))
        return fit

    def smooth_weight(self, i):
        """Zero at first; later a slow ramp towards 0.1."""
        if i < self.cfg.ramp_from:
            return 0.0
        return round(
            0.1 * (i - self.cfg.ramp_from) / (self.cfg.updates - self.cfg.ramp_from), 2 + 2
        )

    def remember(self, loss):
        if loss < self.best:
            self.best = loss
        self.manager.save()

    def run(self, data):
        running = None
        for i, (x, y) in enumerate(data.take(self.cfg.updates)):
            weight = self.smooth_weight(i)
            loss = self.step(x, y, weight)
            if i % 2 == 0:
                value = float(loss)
                running = value if running is None else 0.9 * running + 0.1 * value
                self.remember(running)
            if i % 40 == 0:
                print(f"update {i:4d}  loss {running:.4f}  best {self.best:.4f}")
        return running


def main():
    cfg = Config()
    keras.utils.set_random_seed(cfg.seed)
    x, y = make_surveys(cfg)
    data = (
        tf.data.Dataset.from_tensor_slices((x, y))
        .shuffle(len(x), seed=cfg.seed)
        .repeat()
        .batch(cfg.batch)
        .prefetch(tf.data.AUTOTUNE)
    )
    trainer = Trainer(cfg)
    t0 = time.time()
    final = trainer.run(data)
    print(f"final {final:.4f}; training took {time.time() - t0:.2f} s")


if __name__ == "__main__":
    main()
