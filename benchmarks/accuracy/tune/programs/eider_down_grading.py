"""Grade of eider down from the measurements of the nest (tabular, five classes)."""

import os
import tempfile
import time
from dataclasses import dataclass

import numpy as np
import tensorflow as tf


@dataclass
class Config:
    nests: int = 6144
    features: int = 48
    grades: int = 5
    width: int = 1024
    depth: int = 4
    batch: int = 256
    epochs: int = 9
    lr: float = 4e-4
    mixup_from: int = 3
    save_every: int = 1
    seed: int = 41


def make_nests(cfg):
    rng = np.random.default_rng(cfg.seed)
    x = rng.normal(size=(cfg.nests, cfg.features)).astype("float32")
    w = rng.normal(size=(cfg.features, cfg.grades)).astype("float32")
    logits = np.tanh(x) @ w + 0.4 * rng.normal(size=(cfg.nests, cfg.grades))
    return x, logits.argmax(1).astype("int32")


class GatedBlock(tf.keras.layers.Layer):
    def __init__(self, width, **kw):
        super().__init__(**kw)
        self.value = tf.keras.layers.Dense(width)
        self.gate = tf.keras.layers.Dense(width, activation="sigmoid")
        self.norm = tf.keras.layers.LayerNormalization()

    def call(self, x):
        return x + tf.nn.gelu(self.value(self.norm(x))) * self.gate(x)


def build(cfg):
    inp = tf.keras.Input((cfg.features,))
    h = tf.keras.layers.Dense(cfg.width // 2, activation="gelu")(inp)
    for _ in range(cfg.depth):
        h = GatedBlock(cfg.width // 2)(h)
    return tf.keras.Model(inp, tf.keras.layers.Dense(cfg.grades)(h))


class Grader:
    def __init__(self, cfg):
        self.cfg = cfg
        self.model = build(cfg)
        self.opt = tf.keras.optimizers.AdamW(cfg.lr, weight_decay=1e-4)
        self.opt.build(self.model.trainable_variables)
        self.ckpt = tf.train.Checkpoint(model=self.model, opt=self.opt)
        self.folder = tempfile.mkdtemp(prefix="eider_")
        self.manager = tf.train.CheckpointManager(self.ckpt, self.folder, max_to_keep=2)

    @tf.function
    def step(self, x, y, lam):
        order = tf.random.shuffle(tf.range(tf.shape(x)[0]))
        mixed = lam * x + (1.0 - lam) * tf.gather(x, order)
        y1 = tf.one_hot(y, self.cfg.grades)
        target = lam * y1 + (1.0 - lam) * tf.gather(y1, order)
        with tf.GradientTape() as tape:
            logits = self.model(mixed, training=True)
            loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(target, logits))
        grads = tape.gradient(loss, self.model.trainable_variables)
        grads, _ = tf.clip_by_global_norm(grads, 1.0)
        self.opt.apply_gradients(zip(grads, self.model.trainable_variables))
        return loss

    def mix_weight(self, epoch):
        if epoch < self.cfg.mixup_from:
            return 1.0
        return round(1.0 - 0.3 * (epoch - self.cfg.mixup_from + 1) / self.cfg.epochs, 4)

    def fit(self, ds, n_batches):
        seen = 0
        for epoch in range(self.cfg.epochs):
            t0, total = time.time(), 0.0
            lam = self.mix_weight(epoch)
            for x, y in ds:
                total += float(self.step(x, y, lam))
                seen += 1
                if seen % self.cfg.save_every == 0:
                    self.manager.save(checkpoint_number=seen)
            print(
                f"epoch {epoch + 1:2d}  loss {total / n_batches:.4f}  "
                f"lambda {lam:.3f}  {time.time() - t0:.1f}s"
            )


def main():
    cfg = Config()
    tf.keras.utils.set_random_seed(cfg.seed)
    x, y = make_nests(cfg)
    cut = int(0.85 * len(x))
    ds = (
        tf.data.Dataset.from_tensor_slices((x[:cut], y[:cut]))
        .shuffle(cut, seed=cfg.seed)
        .batch(cfg.batch, drop_remainder=True)
        .prefetch(tf.data.AUTOTUNE)
    )
    grader = Grader(cfg)
    print(f"{grader.model.count_params():,} parameters, checkpoints in {grader.folder}")
    grader.fit(ds, cut // cfg.batch)
    guess = grader.model(x[cut:]).numpy().argmax(1)
    print("held-out accuracy", round(float((guess == y[cut:]).mean()), 3))
    print("files kept:", len(os.listdir(grader.folder)))


if __name__ == "__main__":
    main()
