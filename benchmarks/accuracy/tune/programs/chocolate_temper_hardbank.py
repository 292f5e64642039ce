"""Chocolate tempering: from the cooling curve of a slab to the crystal form (I..VI).

The night shift's slabs are rare and hard, so the trainer keeps a bank of slabs that were
seen and mixes the hardest of them into every step (hard example mining).
"""

from dataclasses import dataclass, field
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
from tensorflow import keras

FORMS = ["I", "II", "III", "IV", "V", "VI"]


@dataclass
class Config:
    slabs: int = 12000
    points: int = 360
    batch: int = 128
    mined: int = 64
    steps: int = 420
    report: int = 60
    lr: float = 1e-3
    seed: int = 34
    widths: tuple = field(default=(512, 512, 256))


def cooling_curves(cfg, rng):
    t = np.linspace(0, 1, cfg.points, dtype="float32")
    form = rng.choice(len(FORMS), cfg.slabs, p=[0.05, 0.08, 0.12, 0.2, 0.45, 0.1])
    knee = 0.25 + 0.09 * form + rng.normal(0, 0.05, cfg.slabs)
    height = 0.3 + 0.07 * form + rng.normal(0, 0.05, cfg.slabs)
    curve = np.exp(-3.0 * t)[None] + height[:, None] * np.exp(
        -(((t[None] - knee[:, None]) / 0.06) ** 2)
    )
    curve += rng.normal(0, 0.08, curve.shape)
    return curve.astype("float32"), form.astype("int32")


class TemperNet(keras.Model):
    def __init__(self, widths, classes):
        super().__init__()
        self.norm = keras.layers.LayerNormalization()
        self.stack = [keras.layers.Dense(w, activation="swish") for w in widths]
        self.head = keras.layers.Dense(classes)

    def call(self, x, training=False):
        x = self.norm(x)
        for layer in self.stack:
            x = layer(x)
        return self.head(x)


class HardBank:
    """Slabs with the loss they had when they were last seen."""

    def __init__(self, take):
        self.take = take
        self.curves, self.forms, self.losses = [], [], []

    def add(self, curves, forms, losses):
        self.curves.append(curves)
        self.forms.append(forms)
        self.losses.append(losses)

    def hardest(self):
        curves = tf.concat(self.curves, 0)
        forms = tf.concat(self.forms, 0)
        losses = tf.concat(self.losses, 0)
        _, idx = tf.math.top_k(losses, self.take)
        return tf.gather(curves, idx), tf.gather(forms, idx)


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.model = TemperNet(cfg.widths, len(FORMS))
        self.opt = keras.optimizers.AdamW(cfg.lr, weight_decay=1e-4)
        self.bank = HardBank(cfg.mined)
        self.seen = keras.metrics.Mean()

    @tf.function(reduce_retracing=True)
    def update(self, curves, forms):
        with tf.GradientTape() as tape:
            logits = self.model(curves, training=True)
            each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=forms, logits=logits)
            loss = tf.reduce_mean(each)
        grads = tape.gradient(loss, self.model.trainable_variables)
        grads, _ = tf.clip_by_global_norm(grads, 5.0)
        self.opt.apply_gradients(zip(grads, self.model.trainable_variables))
        return loss, each

    def step(self, curves, forms):
        if self.bank.losses:
            hard_c, hard_f = self.bank.hardest()
        else:
            hard_c, hard_f = curves[: self.cfg.mined], forms[: self.cfg.mined]
        loss, each = self.update(tf.concat([curves, hard_c], 0), tf.concat([forms, hard_f], 0))
        self.bank.add(curves, forms, each[: self.cfg.batch])
        self.seen.update_state(loss)

    def run(self, dataset):
        for step, (curves, forms) in enumerate(dataset.take(self.cfg.steps), 1):
            self.step(curves, forms)
            if step % self.cfg.report == 0:
                print(f"step {step:4d}  loss {float(self.seen.result()):.4f}")
                self.seen.reset_state()


def main():
    cfg = Config()
    keras.utils.set_random_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    curves, forms = cooling_curves(cfg, rng)
    hold = cfg.slabs // 10
    ds = (
        tf.data.Dataset.from_tensor_slices((curves[hold:], forms[hold:]))
        .shuffle(4000, seed=cfg.seed)
        .repeat()
        .batch(cfg.batch)
        .prefetch(tf.data.AUTOTUNE)
    )
    trainer = Trainer(cfg)
    began = time.time()
    trainer.run(ds)
    print(f"trained for {time.time() - began:.1f} s")
    guess = np.argmax(trainer.model(curves[:hold]).numpy(), 1)
    for k, name in enumerate(FORMS):
        mask = forms[:hold] == k
        if mask.any():
            print(f"form {name:>3}: recall {np.mean(guess[mask] == k):.3f} of {mask.sum()}")


if __name__ == "__main__":
    main()
