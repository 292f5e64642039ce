"""Denoising diffusion on 2-D point clouds, with EMA weights and ancestral sampling every few epochs."""

import json
import os
import tempfile
import time

import numpy as np
import tensorflow as tf

CONFIG = json.loads("""{
  "T": 100, "batch": 512, "width": 256, "blocks": 4, "points": 24000,
  "epochs": 12, "sample_every": 4, "n_samples": 1000, "lr": 0.001, "ema": 0.995, "warmup": 100
}""")


def spiral(n, rng):
    t = np.sqrt(rng.random(n)) * 3 * np.pi
    arm = rng.integers(0, 2, n) * np.pi
    pts = np.stack([t * np.cos(t + arm), t * np.sin(t + arm)], 1) / 6.0
    return (pts + rng.normal(0, 0.04, pts.shape)).astype("float32")


class WarmupCosine(tf.keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, peak, warm, total):
        self.peak, self.warm, self.total = peak, warm, total

    def __call__(self, step):
        s = tf.cast(step, tf.float32)
        w = s / self.warm
        c = 0.5 * (1 + tf.cos(np.pi * (s - self.warm) / (self.total - self.warm)))
        return self.peak * tf.where(s < self.warm, w, c)


def denoiser(width, blocks):
    x = tf.keras.Input((2,))
    t = tf.keras.Input((1,))
    freqs = tf.exp(tf.linspace(0.0, 5.0, 16))
    emb = tf.keras.layers.Lambda(lambda v: tf.concat([tf.sin(v * freqs), tf.cos(v * freqs)], -1))(t)
    h = tf.keras.layers.Dense(width)(tf.keras.layers.Concatenate()([x, emb]))
    for _ in range(blocks):
        r = tf.keras.layers.LayerNormalization()(h)
        r = tf.keras.layers.Dense(width, activation="silu")(r)
        r = tf.keras.layers.Add()(
            [tf.keras.layers.Dense(width)(r), tf.keras.layers.Dense(width)(emb)]
        )
        h = tf.keras.layers.Add()([h, r])
    return tf.keras.Model([x, t], tf.keras.layers.Dense(2)(h))


class DiffusionTrainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.beta = tf.constant(np.linspace(1e-4, 0.08, cfg["T"]), tf.float32)
        self.abar = tf.math.cumprod(1 - self.beta)
        self.net = denoiser(cfg["width"], cfg["blocks"])
        self.ema_net = denoiser(cfg["width"], cfg["blocks"])
        self.ema_net.set_weights(self.net.get_weights())
        steps = cfg["epochs"] * (cfg["points"] // cfg["batch"])
        self.opt = tf.keras.optimizers.Adam(WarmupCosine(cfg["lr"], cfg["warmup"], steps))
        self.workdir = tempfile.mkdtemp(prefix="ddpm_")

    @tf.function
    def train_step(self, x0):
        b = tf.shape(x0)[0]
        t = tf.random.uniform([b], 0, self.cfg["T"], tf.int32)
        a = tf.gather(self.abar, t)[:, None]
        eps = tf.random.normal(tf.shape(x0))
        xt = tf.sqrt(a) * x0 + tf.sqrt(1 - a) * eps
        with tf.GradientTape() as tape:
            pred = self.net([xt, tf.cast(t, tf.float32)[:, None] / self.cfg["T"]], training=True)
            loss = tf.reduce_mean((pred - eps) ** 2)
        v = self.net.trainable_variables
        self.opt.apply_gradients(zip(tape.gradient(loss, v), v))
        for e, w in zip(self.ema_net.trainable_variables, v):
            e.assign(self.cfg["ema"] * e + (1 - self.cfg["ema"]) * w)
        return loss

    @tf.function
    def sample(self, n):
        x = tf.random.normal([n, 2])
        for t in tf.range(self.cfg["T"] - 1, -1, -1):
            tt = tf.fill([n, 1], tf.cast(t, tf.float32) / self.cfg["T"])
            eps = self.ema_net([x, tt], training=False)
            b, a = self.beta[t], self.abar[t]
            x = (x - b / tf.sqrt(1 - a) * eps) / tf.sqrt(1 - b)
            x += tf.cast(t > 0, tf.float32) * tf.sqrt(b) * tf.random.normal([n, 2])
        return x

    def energy_distance(self, x, y):
        d = lambda u, v: np.mean(np.sqrt(((u[:, None] - v[None]) ** 2).sum(-1)))
        return 2 * d(x, y) - d(x, x) - d(y, y)

    def fit(self, data):
        ref = data[:500]
        ds = (
            tf.data.Dataset.from_tensor_slices(data)
            .shuffle(len(data))
            .batch(self.cfg["batch"], drop_remainder=True)
            .prefetch(1)
        )
        for ep in range(1, self.cfg["epochs"] + 1):
            t0, tot, n = time.time(), 0.0, 0
            for x in ds:
                tot += self.train_step(x)
                n += 1
            msg = f"epoch {ep:02d} mse {float(tot) / n:.4f}"
            if ep % self.cfg["sample_every"] == 0:
                s = self.sample(tf.constant(self.cfg["n_samples"])).numpy()
                np.save(os.path.join(self.workdir, "samples.npy"), s)
                msg += f" energy {self.energy_distance(s[:500], ref):.4f}"
            print(msg, f"{time.time() - t0:.2f}s", flush=True)
        os.remove(os.path.join(self.workdir, "samples.npy"))
        os.rmdir(self.workdir)


if __name__ == "__main__":
    tf.keras.utils.set_random_seed(0)
    DiffusionTrainer(CONFIG).fit(spiral(CONFIG["points"], np.random.default_rng(0)))
