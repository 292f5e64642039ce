"""WGAN-GP that learns to imitate a table of customer records (12 mixed columns)."""

import os
import tempfile
from dataclasses import dataclass

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


@dataclass
class GanConfig:
    columns: int = 12
    latent: int = 24
    hidden: int = 256
    batch: int = 256
    critic_steps: int = 4
    gp_weight: float = 10.0
    rounds: int = 500
    eval_every: int = 100
    save_every: int = 250


def make_table(n, columns, seed=0):
    rng = np.random.default_rng(seed)
    segment = rng.integers(0, 4, n)
    centers = rng.normal(0, 2, (4, columns))
    mix = rng.normal(0, 0.5, (4, columns, columns))
    raw = rng.normal(size=(n, columns))
    rows = centers[segment] + np.einsum("nc,ncd->nd", raw, mix[segment])
    rows[:, -1] = np.exp(0.3 * rows[:, -1])
    return ((rows - rows.mean(0)) / rows.std(0)).astype("float32")


def mlp(n_in, n_out, hidden, norm):
    m = keras.Sequential([keras.Input((n_in,))])
    for _ in range(3):
        m.add(layers.Dense(hidden))
        if norm:
            m.add(layers.LayerNormalization())
        m.add(layers.LeakyReLU(negative_slope=0.2))
    m.add(layers.Dense(n_out))
    return m


class TabularWGAN:
    def __init__(self, cfg):
        self.cfg = cfg
        self.generator = mlp(cfg.latent, cfg.columns, cfg.hidden, norm=True)
        self.critic = mlp(cfg.columns, 1, cfg.hidden, norm=False)
        self.g_opt = keras.optimizers.Adam(1e-4, beta_1=0.0, beta_2=0.9)
        self.c_opt = keras.optimizers.Adam(2e-4, beta_1=0.0, beta_2=0.9)
        self.g_opt.build(self.generator.trainable_variables)
        self.c_opt.build(self.critic.trainable_variables)

    def sample(self, n):
        return self.generator(tf.random.normal((n, self.cfg.latent)), training=True)

    @tf.function
    def critic_step(self, real):
        fake = self.sample(self.cfg.batch)
        mix = tf.random.uniform((self.cfg.batch, 1))
        between = mix * real + (1.0 - mix) * fake
        with tf.GradientTape() as tape:
            with tf.GradientTape() as inner:
                inner.watch(between)
                score = self.critic(between, training=True)
            slope = tf.norm(inner.gradient(score, between) + 1e-12, axis=1)
            penalty = tf.reduce_mean(tf.square(slope - 1.0))
            gap = tf.reduce_mean(self.critic(fake)) - tf.reduce_mean(self.critic(real))
            loss = gap + self.cfg.gp_weight * penalty
        grads = tape.gradient(loss, self.critic.trainable_variables)
        self.c_opt.apply_gradients(zip(grads, self.critic.trainable_variables))
        return -gap

    @tf.function
    def generator_step(self):
        with tf.GradientTape() as tape:
            loss = -tf.reduce_mean(self.critic(self.sample(self.cfg.batch)))
        grads = tape.gradient(loss, self.generator.trainable_variables)
        self.g_opt.apply_gradients(zip(grads, self.generator.trainable_variables))
        return loss


def sliced_wasserstein(a, b, n_proj=64, seed=0):
    rng = np.random.default_rng(seed)
    dirs = rng.normal(size=(a.shape[1], n_proj))
    dirs /= np.linalg.norm(dirs, axis=0)
    pa, pb = np.sort(a @ dirs, 0), np.sort(b @ dirs, 0)
    return float(np.abs(pa - pb).mean())


def main():
    cfg = GanConfig()
    tf.random.set_seed(0)
    table = make_table(20000, cfg.columns)
    holdout, table = table[:2000], table[2000:]
    rows = iter(
        tf.data.Dataset.from_tensor_slices(table)
        .shuffle(len(table), seed=0)
        .repeat()
        .batch(cfg.batch, drop_remainder=True)
        .prefetch(4)
    )
    gan = TabularWGAN(cfg)
    ckpt = tf.train.Checkpoint(generator=gan.generator, critic=gan.critic)
    manager = tf.train.CheckpointManager(
        ckpt, os.path.join(tempfile.mkdtemp(), "gan"), max_to_keep=2
    )

    for rnd in range(1, cfg.rounds + 1):
        for _ in range(cfg.critic_steps):
            gap = gan.critic_step(next(rows))
        gan.generator_step()
        if rnd % cfg.eval_every == 0:
            fake = gan.sample(2000).numpy()
            print(
                f"round {rnd} gap {float(gap):.3f} sliced-W {sliced_wasserstein(fake, holdout):.3f}"
            )
        if rnd % cfg.save_every == 0:
            manager.save(checkpoint_number=rnd)
    print("kept:", [os.path.basename(c) for c in manager.checkpoints])


if __name__ == "__main__":
    main()
