"""Silbo whistle contours -> word ids: small encoder/decoder, SGDR style warm restarts."""

import argparse
import math
import time
from dataclasses import dataclass

import numpy as np
import tensorflow as tf
from tensorflow import keras


@dataclass
class SilboConfig:
    frames: int = 64
    words: int = 40
    out_len: int = 10
    dim: int = 64
    enc_blocks: int = 2
    dec_blocks: int = 2
    batch: int = 32
    cycles: int = 4
    cycle_steps: int = 24
    peak_lr: float = 1e-3
    floor_lr: float = 1e-5


REGISTRY = {}


def register(name):
    def deco(cls):
        REGISTRY[name] = cls
        return cls

    return deco


@register("conv_mixer")
class ConvMixer(keras.layers.Layer):
    def __init__(self, dim):
        super().__init__()
        self.n1 = keras.layers.LayerNormalization()
        self.n2 = keras.layers.LayerNormalization()
        self.depth = keras.layers.Conv1D(dim, 5, padding="same", groups=1, activation="gelu")
        self.up = keras.layers.Dense(2 * dim, activation="gelu")
        self.down = keras.layers.Dense(dim)

    def call(self, x):
        x = x + self.depth(self.n1(x))
        return x + self.down(self.up(self.n2(x)))


@register("cross")
class CrossBlock(keras.layers.Layer):
    def __init__(self, dim):
        super().__init__()
        self.n1, self.n2, self.n3 = (keras.layers.LayerNormalization() for _ in range(3))
        self.self_att = keras.layers.MultiHeadAttention(4, dim // 4)
        self.cross_att = keras.layers.MultiHeadAttention(4, dim // 4)
        self.up = keras.layers.Dense(2 * dim, activation="gelu")
        self.down = keras.layers.Dense(dim)

    def call(self, x, memory):
        h = self.n1(x)
        x = x + self.self_att(h, h, use_causal_mask=True)
        x = x + self.cross_att(self.n2(x), memory)
        return x + self.down(self.up(self.n3(x)))


class Silbo(keras.Model):
    def __init__(self, cfg):
        super().__init__()
        self.front = keras.layers.Dense(cfg.dim)
        self.encoder = [REGISTRY["conv_mixer"](cfg.dim) for _ in range(cfg.enc_blocks)]
        self.decoder = [REGISTRY["cross"](cfg.dim) for _ in range(cfg.dec_blocks)]
        self.emb = keras.layers.Embedding(cfg.words + 1, cfg.dim)
        self.out = keras.layers.Dense(cfg.words + 1)

    def call(self, inputs):
        contour, prev = inputs
        h = self.front(contour)
        for block in self.encoder:
            h = block(h)
        x = self.emb(prev)
        for block in self.decoder:
            x = block(x, h)
        return self.out(x)


class Cosine(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, peak, floor, steps):
        self.peak, self.floor, self.steps = peak, floor, steps

    def __call__(self, step):
        frac = tf.cast(step % self.steps, tf.float32) / self.steps
        return self.floor + 0.5 * (self.peak - self.floor) * (1 + tf.cos(math.pi * frac))


def whistles(cfg, n, rng):
    words = rng.integers(1, cfg.words, (n, cfg.out_len))
    reps = int(math.ceil(cfg.frames / cfg.out_len))
    pitch = np.repeat(words, reps, axis=1)[:, : cfg.frames] / cfg.words
    vib = 0.05 * np.sin(np.arange(cfg.frames) / 2.0)[None, :]
    x = np.stack([pitch + vib, np.gradient(pitch, axis=1), pitch**2], -1)
    x = x + rng.normal(0, 0.02, x.shape)
    prev = np.concatenate([np.full((n, 1), cfg.words), words[:, :-1]], 1)
    return x.astype(np.float32), prev.astype(np.int32), words.astype(np.int32)


class Restarter:
    def __init__(self, cfg):
        self.cfg = cfg
        self.model = Silbo(cfg)
        self.model((tf.zeros((1, cfg.frames, 3)), tf.zeros((1, cfg.out_len), tf.int32)))
        self.loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.opt = None
        self.step_fn = None

    def make_step(self):
        opt, model = self.opt, self.model

        @tf.function
        def step(contour, prev, words):
            with tf.GradientTape() as tape:
                loss = self.loss_fn(words, model((contour, prev)))
            grads = tape.gradient(loss, model.trainable_variables)
            grads, _ = tf.clip_by_global_norm(grads, 1.0)
            opt.apply_gradients(zip(grads, model.trainable_variables))
            return loss

        return step

    def begin_cycle(self):
        c = self.cfg
        self.opt = keras.optimizers.AdamW(
            Cosine(c.peak_lr, c.floor_lr, c.cycle_steps), weight_decay=1e-4
        )
        self.opt.build(self.model.trainable_variables)
        self.step_fn = self.make_step()

    def run(self, ds):
        feed = iter(ds)
        for cycle in range(self.cfg.cycles):
            self.begin_cycle()
            total = 0.0
            for _ in range(self.cfg.cycle_steps):
                total += float(self.step_fn(*next(feed)))
            print(f"cycle {cycle}: mean loss {total / self.cfg.cycle_steps:.3f}")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--cycles", type=int, default=SilboConfig.cycles)
    cfg = SilboConfig(cycles=ap.parse_args().cycles)
    keras.utils.set_random_seed(77)
    data = whistles(cfg, 2000, np.random.default_rng(77))
    ds = (
        tf.data.Dataset.from_tensor_slices(data)
        .shuffle(2000, seed=7)
        .repeat()
        .batch(cfg.batch)
        .prefetch(tf.data.AUTOTUNE)
    )
    t0 = time.time()
    Restarter(cfg).run(ds)
    print(f"total {time.time() - t0:.1f}s")


if __name__ == "__main__":
    main()
