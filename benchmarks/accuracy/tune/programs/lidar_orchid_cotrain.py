"""Point-cloud completion of orchid canopies: generator and critic in alternating phases.

Phase A: `gen_steps` of the completer against Chamfer distance plus critic score.
Phase B: `critic_steps` of the critic with gradient penalty.  Validation after every round.
"""

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tensorflow as tf

keras = tf.keras
ops = keras.ops


@dataclass(frozen=True)
class Orchid:
    points: int = 256
    partial: int = 128
    latent: int = 128
    batch: int = 48
    rounds: int = 8
    gen_steps: int = 16
    critic_steps: int = 12
    files: int = 6
    per_file: int = 96


def petals(n_plants, cfg, rng):
    theta = rng.uniform(0, 2 * np.pi, (n_plants, cfg.points))
    k = rng.integers(2, 6, (n_plants, 1))
    r = np.abs(np.cos(k * theta)) * rng.uniform(0.2, 1.0, theta.shape) ** 0.5
    z = 0.3 * r**2 + rng.normal(0, 0.02, r.shape)
    return np.stack([r * np.cos(theta), r * np.sin(theta), z], -1).astype(np.float32)


def write_scans(cfg, folder, rng):
    for i in range(cfg.files):
        np.save(folder / f"scan_{i:02d}.npy", petals(cfg.per_file, cfg, rng))


def load_scans(folder):
    return np.concatenate([np.load(p) for p in sorted(folder.glob("scan_*.npy"))])


def make_feed(clouds, cfg, seed):
    def cut(batch):
        direction = tf.random.normal((tf.shape(batch)[0], 1, 3))
        order = tf.argsort(tf.reduce_sum(batch * direction, -1), axis=1)
        part = tf.gather(batch, order[:, : cfg.partial], batch_dims=1)
        return part, batch

    return (
        tf.data.Dataset.from_tensor_slices(clouds)
        .shuffle(len(clouds), seed=seed)
        .repeat()
        .batch(cfg.batch)
        .map(cut, num_parallel_calls=1)
        .prefetch(4)
    )


class PointEncoder(keras.layers.Layer):
    def __init__(self, widths, **kw):
        super().__init__(**kw)
        self.mlp = [keras.layers.Dense(w, activation="relu") for w in widths]

    def call(self, pts):
        x = pts
        for layer in self.mlp:
            x = layer(x)
        return ops.max(x, axis=1)


class Completer(keras.Model):
    def __init__(self, cfg):
        super().__init__()
        self.enc = PointEncoder([64, 128, cfg.latent])
        self.fold1 = keras.layers.Dense(128, activation="relu")
        self.fold2 = keras.layers.Dense(128, activation="relu")
        self.out = keras.layers.Dense(3)
        side = int(cfg.points**0.5)
        g = np.stack(np.meshgrid(np.linspace(-1, 1, side), np.linspace(-1, 1, side)), -1)
        self.grid = tf.constant(g.reshape(1, -1, 2), tf.float32)

    def call(self, part):
        z = self.enc(part)
        b, n = ops.shape(z)[0], self.grid.shape[1]
        zz = ops.repeat(z[:, None, :], n, axis=1)
        gg = ops.repeat(self.grid, b, axis=0)
        return self.out(self.fold2(self.fold1(ops.concatenate([zz, gg], -1))))


class Critic(keras.Model):
    def __init__(self):
        super().__init__()
        self.enc = PointEncoder([64, 128, 128])
        self.h = keras.layers.Dense(64, activation="relu")
        self.s = keras.layers.Dense(1)

    def call(self, pts):
        return self.s(self.h(self.enc(pts)))


def chamfer(a, b):
    aa = ops.sum(a * a, -1)[:, :, None]
    bb = ops.sum(b * b, -1)[:, None, :]
    d = ops.maximum(aa + bb - 2 * ops.matmul(a, ops.transpose(b, (0, 2, 1))), 0.0)
    return ops.mean(ops.min(d, 1)) + ops.mean(ops.min(d, 2))


class Duel:
    def __init__(self, cfg):
        self.cfg = cfg
        self.gen, self.critic = Completer(cfg), Critic()
        self.gen(tf.zeros((1, cfg.partial, 3)))
        self.critic(tf.zeros((1, cfg.points, 3)))
        self.g_opt = keras.optimizers.Adam(1e-3, beta_1=0.5)
        self.c_opt = keras.optimizers.Adam(5e-4, beta_1=0.5)
        self.c_vars = self.critic.trainable_variables
        self.g_vars = self.gen.trainable_variables

    @tf.function
    def gen_step(self, part, full):
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch([v.value for v in self.g_vars])
            fake = self.gen(part)
            cd = chamfer(fake, full)
            loss = cd - 0.01 * ops.mean(self.critic(fake))
        self.g_opt.apply_gradients(zip(tape.gradient(loss, self.g_vars), self.g_vars))
        return cd

    @tf.function
    def critic_step(self, part, full):
        fake = self.gen(part)
        eps = tf.random.uniform((tf.shape(full)[0], 1, 1))
        mix = eps * full + (1 - eps) * fake
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch([v.value for v in self.c_vars])
            with tf.GradientTape() as inner:
                inner.watch(mix)
                score = self.critic(mix)
            slope = inner.gradient(score, mix)
            norm = tf.sqrt(tf.reduce_sum(slope**2, (1, 2)) + 1e-8)
            loss = (
                ops.mean(self.critic(fake))
                - ops.mean(self.critic(full))
                + 10.0 * tf.reduce_mean((norm - 1.0) ** 2)
            )
        self.c_opt.apply_gradients(zip(tape.gradient(loss, self.c_vars), self.c_vars))
        return loss

    @tf.function
    def validate(self, part, full):
        return chamfer(self.gen(part), full)


def main():
    cfg = Orchid()
    keras.utils.set_random_seed(5150)
    rng = np.random.default_rng(5150)
    folder = Path(tempfile.mkdtemp(prefix="orchid_"))
    write_scans(cfg, folder, rng)
    clouds = load_scans(folder)
    feed = iter(make_feed(clouds[64:], cfg, 3))
    held_part, held_full = next(iter(make_feed(clouds[:64], cfg, 4)))
    duel = Duel(cfg)
    for r in range(cfg.rounds):
        t0 = time.time()
        cds = [duel.gen_step(*next(feed)) for _ in range(cfg.gen_steps)]
        cls = [duel.critic_step(*next(feed)) for _ in range(cfg.critic_steps)]
        val = float(duel.validate(held_part, held_full))
        print(
            f"round {r}  chamfer {np.mean([float(c) for c in cds]):.4f}  "
            f"critic {float(cls[-1]):+.3f}  val {val:.4f}  {time.time() - t0:.1f}s"
        )
    duel.gen.save_weights(folder / "completer.weights.h5")
    print("saved", (folder / "completer.weights.h5").name)


if __name__ == "__main__":
    main()
