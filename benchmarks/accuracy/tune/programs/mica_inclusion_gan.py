"""Hinge GAN for synthetic mica inclusions (24x24 transmitted-light crops).

Keras model with its own train_step: two critic updates to one generator update, an
averaged generator for the pictures, diversity checks now and then.  Crops double their
batch for the second half of the run.
"""

import os
import tempfile
import time
from dataclasses import dataclass

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
import keras
from keras import layers


@dataclass
class Settings:
    side: int = 24
    latent: int = 32
    n_crops: int = 1152
    small_batch: int = 48
    large_batch: int = 96
    first_epochs: int = 6
    second_epochs: int = 6
    n_critic: int = 2
    g_lr: float = 2e-4
    d_lr: float = 3e-4
    decay: float = 0.99
    seed: int = 88


# ------------------------------------------------------------------ data
def draw_inclusions(cfg):
    rng = np.random.default_rng(cfg.seed)
    yy, xx = np.mgrid[-1 : 1 : cfg.side * 1j, -1 : 1 : cfg.side * 1j]
    n = cfg.n_crops
    cx, cy = rng.uniform(-0.4, 0.4, (2, n, 1, 1))
    theta = rng.uniform(0, np.pi, (n, 1, 1))
    a, b = rng.uniform(0.3, 0.7, (n, 1, 1)), rng.uniform(0.08, 0.25, (n, 1, 1))
    u = (xx - cx) * np.cos(theta) + (yy - cy) * np.sin(theta)
    v = -(xx - cx) * np.sin(theta) + (yy - cy) * np.cos(theta)
    flake = 1.0 / (1.0 + np.exp(8.0 * ((u / a) ** 2 + (v / b) ** 2 - 1.0)))
    crops = 0.85 - 1.4 * flake + 0.05 * rng.normal(size=flake.shape)
    return np.clip(crops, -1, 1).astype("float32")[..., None]


def pipeline(crops, batch, seed):
    ds = tf.data.Dataset.from_tensor_slices(crops).shuffle(len(crops), seed=seed)
    return ds.batch(batch).prefetch(2)


# ------------------------------------------------------------------ networks
def make_generator(cfg, base=48):
    z = keras.Input((cfg.latent,))
    q = cfg.side // 4
    h = layers.Dense(q * q * base)(z)
    h = layers.Reshape((q, q, base))(h)
    for mult in (1.0, 0.5):
        h = layers.UpSampling2D()(h)
        h = layers.Conv2D(int(base * mult), 3, padding="same")(h)
        h = layers.GroupNormalization(8)(h)
        h = layers.LeakyReLU(negative_slope=0.2)(h)
    out = layers.Conv2D(1, 3, padding="same", activation="tanh")(h)
    return keras.Model(z, out, name="generator")


def make_critic(cfg, base=32):
    x = keras.Input((cfg.side, cfg.side, 1))
    h = x
    for mult in (1, 2, 3):
        h = layers.Conv2D(base * mult, 4, strides=2, padding="same")(h)
        h = layers.LeakyReLU(negative_slope=0.2)(h)
    h = layers.Flatten()(h)
    return keras.Model(x, layers.Dense(1)(h), name="critic")


class InclusionGAN(keras.Model):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.generator, self.critic = make_generator(cfg), make_critic(cfg)
        self.average = keras.models.clone_model(self.generator)
        self.average.set_weights(self.generator.get_weights())
        self.average.trainable = False
        self.d_mean, self.g_mean = keras.metrics.Mean(name="d"), keras.metrics.Mean(name="g")
        self.gap = keras.metrics.Mean(name="gap")

    def compile(self, g_opt, d_opt):
        super().compile()
        self.g_opt, self.d_opt = g_opt, d_opt
        g_opt.build(self.generator.trainable_variables)
        d_opt.build(self.critic.trainable_variables)

    @property
    def metrics(self):
        return [self.d_mean, self.g_mean, self.gap]

    def call(self, z):
        return self.average(z)

    def _noise(self, n):
        return tf.random.normal([n, self.cfg.latent])

    def _critic_update(self, real):
        fake = self.generator(self._noise(tf.shape(real)[0]), training=True)
        variables = self.critic.trainable_variables
        with tf.GradientTape() as tape:
            r = self.critic(real, training=True)
            f = self.critic(fake, training=True)
            loss = tf.reduce_mean(tf.nn.relu(1.0 - r)) + tf.reduce_mean(tf.nn.relu(1.0 + f))
        self.d_opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
        self.gap.update_state(tf.reduce_mean(r) - tf.reduce_mean(f))
        return loss

    def _generator_update(self, n):
        variables = self.generator.trainable_variables
        z = self._noise(n)
        with tf.GradientTape() as tape:
            loss = -tf.reduce_mean(self.critic(self.generator(z, training=True), training=True))
        self.g_opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    def train_step(self, real):
        for _ in range(self.cfg.n_critic):
            d_loss = self._critic_update(real)
        g_loss = self._generator_update(tf.shape(real)[0])
        for avg, now in zip(self.average.variables, self.generator.variables):
            avg.assign(self.cfg.decay * avg + (1.0 - self.cfg.decay) * now)
        self.d_mean.update_state(d_loss)
        self.g_mean.update_state(g_loss)
        return {m.name: m.result() for m in self.metrics}


# ------------------------------------------------------------------ callbacks
class DiversityCheck(keras.callbacks.Callback):
    """Mean pairwise distance of 64 generated crops against that of 64 real ones."""

    def __init__(self, real, cfg, every=3):
        super().__init__()
        self.z = tf.random.stateless_normal([64, cfg.latent], seed=(1, cfg.seed))
        self.reference = self._spread(real[:64])
        self.every = every

    @staticmethod
    def _spread(imgs):
        flat = np.asarray(imgs).reshape(len(imgs), -1)
        sq = (flat**2).sum(1)
        d = sq[:, None] + sq[None] - 2.0 * flat @ flat.T
        return float(np.sqrt(np.maximum(d, 0)).mean())

    def on_epoch_end(self, epoch, logs=None):
        if (epoch + 1) % self.every == 0:
            ratio = self._spread(self.model.average(self.z)) / self.reference
            print(f"    diversity {ratio:.3f} of the real crops'")


class Teller(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        self.t0 = time.time()

    def on_epoch_end(self, epoch, logs=None):
        logs = logs or {}
        print(
            f"epoch {epoch + 1:2d}  critic {logs['d']:.3f}  generator {logs['g']:+.3f}  "
            f"gap {logs['gap']:.2f}  {time.time() - self.t0:.2f}s",
            flush=True,
        )


def main():
    cfg = Settings()
    keras.utils.set_random_seed(cfg.seed)
    folder = tempfile.mkdtemp(prefix="mica_")
    crops = draw_inclusions(cfg)
    gan = InclusionGAN(cfg)
    gan.compile(
        keras.optimizers.Adam(cfg.g_lr, beta_1=0.5), keras.optimizers.Adam(cfg.d_lr, beta_1=0.5)
    )
    watchers = [
        DiversityCheck(crops, cfg),
        Teller(),
        keras.callbacks.CSVLogger(os.path.join(folder, "gan.csv"), append=True),
    ]
    last = cfg.first_epochs + cfg.second_epochs
    gan.fit(
        pipeline(crops, cfg.small_batch, cfg.seed),
        epochs=cfg.first_epochs,
        callbacks=watchers,
        verbose=0,
    )
    gan.fit(
        pipeline(crops, cfg.large_batch, cfg.seed + 1),
        initial_epoch=cfg.first_epochs,
        epochs=last,
        callbacks=watchers,
        verbose=0,
    )
    gan.average.save_weights(os.path.join(folder, "average.weights.h5"))
    np.save(os.path.join(folder, "samples.npy"), gan.average(tf.random.normal([25, cfg.latent])))
    print("saved:", sorted(os.listdir(folder)))


if __name__ == "__main__":
    main()
