"""Multi-horizon forecast of crock sensors (pH, gas, temperature) with a GRU/attention hybrid."""

import json
import os
import shutil
import tempfile
import time
from dataclasses import asdict, dataclass

import numpy as np
import tensorflow as tf

keras = tf.keras


@dataclass
class Settings:
    crocks: int = 400
    hours: int = 96
    horizon: int = 12
    vocab: int = 30000
    width: int = 64
    batch: int = 48
    steps: int = 170
    eval_every: int = 34
    keep: int = 3
    lr: float = 1.5e-3


def brew(cfg, rng):
    """Logistic acidification with crock specific speed and daily temperature swing."""
    t = np.arange(cfg.hours + cfg.horizon)[None, :]
    speed = rng.uniform(0.04, 0.12, (cfg.crocks, 1))
    mid = rng.uniform(30, 70, (cfg.crocks, 1))
    acid = 1 / (1 + np.exp(-speed * (t - mid)))
    temp = 0.3 * np.sin(2 * np.pi * t / 24 + rng.uniform(0, 6, (cfg.crocks, 1)))
    gas = np.gradient(acid, axis=1) * 20
    x = np.stack([acid, gas, temp], -1) + rng.normal(0, 0.02, (cfg.crocks, t.shape[1], 3))
    recipe = rng.integers(0, cfg.vocab, (cfg.crocks, 8))
    return x.astype(np.float32), recipe.astype(np.int32)


class CrockModel(keras.Model):
    def __init__(self, cfg):
        super().__init__()
        self.recipe_emb = keras.layers.Embedding(cfg.vocab, cfg.width)
        self.inp = keras.layers.Conv1D(cfg.width, 5, padding="causal", activation="gelu")
        self.mix1 = keras.layers.Conv1D(
            cfg.width, 5, dilation_rate=2, padding="causal", activation="gelu"
        )
        self.mix2 = keras.layers.Conv1D(
            cfg.width, 5, dilation_rate=4, padding="causal", activation="gelu"
        )
        self.att = keras.layers.MultiHeadAttention(4, cfg.width // 4)
        self.norm = keras.layers.LayerNormalization()
        self.out = keras.layers.Dense(cfg.horizon)

    def call(self, inputs):
        series, recipe = inputs
        ctx = tf.reduce_mean(self.recipe_emb(recipe), axis=1, keepdims=True)
        h = self.inp(series) + ctx
        h = h + self.mix1(h)
        h = h + self.mix2(h)
        h = self.norm(h + self.att(h, h))
        return self.out(h[:, -1])


class Rotation:
    """Keeps the newest N snapshots below root, with a json index beside them."""

    def __init__(self, root, ckpt, keep):
        self.root, self.ckpt, self.keep = root, ckpt, keep
        self.index = []

    def save(self, step, score):
        folder = os.path.join(self.root, f"s{step:06d}")
        os.makedirs(folder)
        self.ckpt.write(os.path.join(folder, "w"))
        self.index.append({"step": step, "score": score, "folder": folder})
        while len(self.index) > self.keep:
            shutil.rmtree(self.index.pop(0)["folder"])
        with open(os.path.join(self.root, "index.json"), "w") as f:
            json.dump(self.index, f)


class Ema:
    def __init__(self, decay):
        self.decay, self.value = decay, None

    def update(self, x):
        self.value = x if self.value is None else self.decay * self.value + (1 - self.decay) * x
        return self.value


class Forecaster:
    def __init__(self, cfg, root):
        self.cfg = cfg
        self.model = CrockModel(cfg)
        self.opt = keras.optimizers.Adam(cfg.lr)
        self.model((tf.zeros((1, cfg.hours, 3)), tf.zeros((1, 8), tf.int32)))
        self.opt.build(self.model.trainable_variables)
        self.rotation = Rotation(
            root, tf.train.Checkpoint(model=self.model, opt=self.opt), cfg.keep
        )
        self.smooth = Ema(0.9)
        self.best = float("inf")

    @tf.function
    def train_step(self, series, recipe, target):
        with tf.GradientTape() as tape:
            pred = self.model((series, recipe))
            loss = tf.reduce_mean(tf.keras.losses.huber(target, pred, delta=0.2))
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.model.trainable_variables))
        return loss

    @tf.function
    def eval_step(self, series, recipe, target):
        return tf.reduce_mean(tf.abs(self.model((series, recipe)) - target))

    def fit(self, ds, val):
        for step, batch in enumerate(ds.take(self.cfg.steps), 1):
            loss = float(self.train_step(*batch))
            score = self.smooth.update(loss)
            if score < self.best:
                self.best = score
                self.rotation.save(step, score)
            if step % self.cfg.eval_every == 0:
                mae = np.mean([float(self.eval_step(*b)) for b in val])
                print(f"step {step:4d} loss {loss:.5f} smooth {score:.5f} val mae {mae:.4f}")


def datasets(cfg):
    rng = np.random.default_rng(8)
    x, recipe = brew(cfg, rng)
    series, target = x[:, : cfg.hours], x[:, cfg.hours :, 0]
    cut = int(cfg.crocks * 0.8)
    train = (
        tf.data.Dataset.from_tensor_slices((series[:cut], recipe[:cut], target[:cut]))
        .shuffle(cut, seed=3)
        .repeat()
        .batch(cfg.batch)
        .prefetch(4)
    )
    val = tf.data.Dataset.from_tensor_slices((series[cut:], recipe[cut:], target[cut:])).batch(80)
    return train, val


def main():
    cfg = Settings()
    keras.utils.set_random_seed(8)
    root = tempfile.mkdtemp(prefix="kimchi_")
    with open(os.path.join(root, "config.json"), "w") as f:
        json.dump(asdict(cfg), f)
    train, val = datasets(cfg)
    forecaster = Forecaster(cfg, root)
    print("parameters:", forecaster.model.count_params())
    t0 = time.time()
    forecaster.fit(train, val)
    print(f"{cfg.steps} steps, {time.time() - t0:.1f}s, best {forecaster.best:.5f}")
    shutil.rmtree(root)


if __name__ == "__main__":
    main()
