"""Multi-task model for organ builders: cut-up, wind pressure and speech delay
of flue pipes from short-time spectra.  Spectra live in shards on disk."""

import os
import tempfile
from dataclasses import dataclass

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf

TASKS = ("cutup", "pressure", "delay")


@dataclass
class Settings:
    bins: int = 512
    pipes: int = 7000
    shards: int = 2
    batch: int = 250
    epochs: int = 9
    trunk: int = 768
    seed: int = 1737


def write_shards(cfg, folder):
    rng = np.random.default_rng(cfg.seed)
    mix = rng.normal(size=(cfg.bins, len(TASKS))) / np.sqrt(cfg.bins)
    names = []
    for s in range(cfg.shards):
        n = cfg.pipes // cfg.shards
        spec = np.round(rng.normal(size=(n, cfg.bins)), 1).astype("float32")
        targets = np.tanh(spec @ mix) + rng.normal(0, 0.05, (n, len(TASKS)))
        name = os.path.join(folder, f"pipes_{s}.npz")
        np.savez_compressed(name, spec=spec, targets=targets.astype("float32"))
        names.append(name)
    return names


class ShardReader:
    def __init__(self, names, cfg):
        self.names, self.cfg = names, cfg
        self.per_shard = cfg.pipes // cfg.shards
        self.rng = np.random.default_rng(cfg.seed + 1)

    def rows(self, shard, start):
        with np.load(self.names[shard]) as z:
            stop = start + self.cfg.batch
            return z["spec"][start:stop], z["targets"][start:stop]

    def epoch(self):
        places = [
            (s, k) for s in range(len(self.names)) for k in range(0, self.per_shard, self.cfg.batch)
        ]
        for j in self.rng.permutation(len(places)):
            spec, targets = self.rows(*places[j])
            level = self.rng.normal(0, 0.05, (len(spec), 1)).astype("float32")
            yield tf.constant(spec + level), tf.constant(targets)


def build(cfg):
    inp = tf.keras.Input((cfg.bins,))
    h = inp
    for _ in range(3):
        h = tf.keras.layers.Dense(cfg.trunk, activation="relu")(h)
    trunk = tf.keras.Model(inp, h)
    heads = [
        tf.keras.Sequential(
            [
                tf.keras.Input((cfg.trunk,)),
                tf.keras.layers.Dense(64, activation="relu"),
                tf.keras.layers.Dense(1),
            ]
        )
        for _ in TASKS
    ]
    return trunk, heads


def cosine(a, b):
    dot = tf.add_n([tf.reduce_sum(x * y) for x, y in zip(a, b)])
    return dot / (tf.linalg.global_norm(a) * tf.linalg.global_norm(b) + 1e-9)


def make_update(trunk, heads, opt):
    shared = trunk.trainable_variables
    variables = shared + [v for h in heads for v in h.trainable_variables]

    @tf.function
    def update(spec, targets):
        with tf.GradientTape(persistent=True) as tape:
            z = trunk(spec, training=True)
            losses = [
                tf.reduce_mean(tf.square(h(z)[:, 0] - targets[:, i])) for i, h in enumerate(heads)
            ]
            total = tf.add_n(losses)
        grads = tape.gradient(total, variables)
        apart = [tape.gradient(l, shared) for l in losses]
        quarrel = tf.stack(
            [cosine(apart[0], apart[1]), cosine(apart[0], apart[2]), cosine(apart[1], apart[2])]
        )
        opt.apply_gradients(zip(grads, variables))
        return tf.stack(losses), quarrel

    return update


def main():
    cfg = Settings()
    tf.keras.utils.set_random_seed(cfg.seed)
    reader = ShardReader(write_shards(cfg, tempfile.mkdtemp()), cfg)
    trunk, heads = build(cfg)
    update = make_update(trunk, heads, tf.keras.optimizers.Adam(5e-4))
    for epoch in range(cfg.epochs):
        rows = []
        for spec, targets in reader.epoch():
            losses, quarrel = update(spec, targets)
            rows.append(losses.numpy())
        mean = np.mean(rows, 0)
        text = "  ".join(f"{t} {v:.3f}" for t, v in zip(TASKS, mean))
        print(f"epoch {epoch}: {text}  cosines {np.round(quarrel.numpy(), 2)}")


if __name__ == "__main__":
    main()
