"""Pattern family and thread count of bobbin lace samples: joint training, later only the two heads."""

import argparse
import time
from dataclasses import dataclass

import numpy as np
import tensorflow as tf


@dataclass
class Cfg:
    samples: int = 1600
    side: int = 40
    families: int = 5
    batch: int = 32
    joint_steps: int = 150
    head_steps: int = 800
    lr: float = 1e-3
    seed: int = 5


def weave(cfg):
    rng = np.random.default_rng(cfg.seed)
    fam = rng.integers(0, cfg.families, cfg.samples)
    threads = rng.uniform(3, 9, cfg.samples)
    yy, xx = np.mgrid[0 : cfg.side, 0 : cfg.side] / cfg.side
    ang = (fam * np.pi / cfg.families)[:, None, None]
    wave = np.sin(2 * np.pi * threads[:, None, None] * (xx * np.cos(ang) + yy * np.sin(ang)))
    img = wave + rng.normal(0, 0.4, wave.shape)
    return img[..., None].astype("float32"), fam.astype("int32"), (threads / 9).astype("float32")


def make_trunk(cfg):
    inp = tf.keras.Input((cfg.side, cfg.side, 1))
    h = tf.keras.layers.Conv2D(16, 3, padding="same", activation="relu")(inp)
    h = tf.keras.layers.Conv2D(24, 3, strides=2, padding="same", activation="relu")(h)
    h = tf.keras.layers.Conv2D(32, 3, padding="same", activation="relu")(h)
    h = tf.keras.layers.Conv2D(48, 3, strides=2, padding="same", activation="relu")(h)
    h = tf.keras.layers.Conv2D(48, 3, padding="same", activation="relu")(h)
    return tf.keras.Model(inp, tf.keras.layers.GlobalAveragePooling2D()(h), name="trunk")


class LaceReader:
    def __init__(self, cfg):
        self.cfg = cfg
        self.trunk = make_trunk(cfg)
        self.family = tf.keras.Sequential(
            [
                tf.keras.Input((48,)),
                tf.keras.layers.Dense(64, activation="relu"),
                tf.keras.layers.Dense(cfg.families),
            ],
            name="family",
        )
        self.count = tf.keras.Sequential(
            [
                tf.keras.Input((48,)),
                tf.keras.layers.Dense(64, activation="relu"),
                tf.keras.layers.Dense(1),
            ],
            name="count",
        )
        self.head_vars = self.family.trainable_variables + self.count.trainable_variables
        self.vars = self.trunk.trainable_variables + self.head_vars
        self.opt = tf.keras.optimizers.Adam(cfg.lr)
        self.opt.build(self.vars)
        self.trunk_scale = tf.Variable(1.0, trainable=False)

    def losses(self, x, fam, thr):
        z = self.trunk(x, training=True)
        ce = tf.nn.sparse_softmax_cross_entropy_with_logits(fam, self.family(z))
        mse = tf.square(self.count(z)[:, 0] - thr)
        return tf.reduce_mean(ce), 4.0 * tf.reduce_mean(mse)

    @tf.function
    def step(self, x, fam, thr):
        with tf.GradientTape() as tape:
            a, b = self.losses(x, fam, thr)
            total = a + b
        grads = tape.gradient(total, self.vars)
        n = len(self.trunk.trainable_variables)
        grads = [g * self.trunk_scale for g in grads[:n]] + list(grads[n:])
        self.opt.apply_gradients(zip(grads, self.vars))
        return a, b

    def hold_trunk(self):
        self.opt = tf.keras.optimizers.Adam(self.cfg.lr * 0.3)
        self.opt.build(self.vars)
        self.trunk_scale.assign(0.0)
        self.step = tf.function(self.step.python_function)


def run_phase(reader, it, steps, label):
    sums = np.zeros(2)
    t0 = time.time()
    for k in range(steps):
        x, fam, thr = next(it)
        a, b = reader.step(x, fam, thr)
        sums += (float(a), float(b))
        if (k + 1) % 100 == 0:
            print(
                f"{label} {k + 1:4d}  family {sums[0] / 100:.3f}  count {sums[1] / 100:.3f}",
                flush=True,
            )
            sums[:] = 0
    return time.time() - t0


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--joint", type=int, default=Cfg.joint_steps)
    ap.add_argument("--heads", type=int, default=Cfg.head_steps)
    args = ap.parse_args()
    cfg = Cfg(joint_steps=args.joint, head_steps=args.heads)
    tf.keras.utils.set_random_seed(cfg.seed)
    x, fam, thr = weave(cfg)
    n = cfg.samples - 200
    ds = (
        tf.data.Dataset.from_tensor_slices((x[:n], fam[:n], thr[:n]))
        .cache()
        .shuffle(n, seed=cfg.seed)
        .repeat()
        .batch(cfg.batch)
        .prefetch(4)
    )
    it = iter(ds)
    reader = LaceReader(cfg)
    total = run_phase(reader, it, cfg.joint_steps, "joint")
    reader.hold_trunk()
    total += run_phase(reader, it, cfg.head_steps, "heads")
    logits = reader.family(reader.trunk(x[n:]))
    print("family accuracy", np.mean(np.argmax(logits, 1) == fam[n:]), f"training {total:.2f} s")


if __name__ == "__main__":
    main()
