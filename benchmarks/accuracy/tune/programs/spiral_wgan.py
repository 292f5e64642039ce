"""WGAN-GP on a two-armed spiral, written as a keras.Model with its own train_step."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf
from keras import layers

LATENT = 8


def spiral(n, rng):
    r = np.sqrt(rng.uniform(0.02, 1.0, n))
    arm = rng.integers(0, 2, n) * np.pi
    ang = 3.0 * np.pi * r + arm
    xy = np.stack([r * np.cos(ang), r * np.sin(ang)], 1)
    return (2.0 * xy + 0.03 * rng.normal(size=(n, 2))).astype("float32")


def tower(n_in, n_out, width=224, depth=3):
    inp = keras.Input((n_in,))
    h = inp
    for _ in range(depth):
        h = layers.Dense(width)(h)
        h = layers.LeakyReLU(negative_slope=0.2)(h)
    return keras.Model(inp, layers.Dense(n_out)(h))


class SpiralWGAN(keras.Model):
    def __init__(self, critic_steps=5, penalty=2.0):
        super().__init__()
        self.generator = tower(LATENT, 2)
        self.critic = tower(2, 1)
        self.critic_steps, self.penalty = critic_steps, penalty
        self.track_w = keras.metrics.Mean(name="wasserstein")
        self.track_gp = keras.metrics.Mean(name="gp")
        self.track_g = keras.metrics.Mean(name="g_loss")

    @property
    def metrics(self):
        return [self.track_w, self.track_gp, self.track_g]

    def compile(self, g_opt, c_opt):
        super().compile()
        self.g_opt, self.c_opt = g_opt, c_opt
        self.g_opt.build(self.generator.trainable_variables)
        self.c_opt.build(self.critic.trainable_variables)

    def call(self, z):
        return self.generator(z)

    def critic_update(self, real):
        n = tf.shape(real)[0]
        fake = self.generator(tf.random.normal([n, LATENT]), training=True)
        mixed = real + tf.random.uniform([n, 1]) * (fake - real)
        with tf.GradientTape() as tape:
            with tf.GradientTape() as inner:
                inner.watch(mixed)
                at_mixed = self.critic(mixed, training=True)
            slope = tf.norm(inner.gradient(at_mixed, mixed) + 1e-8, axis=1)
            gp = tf.reduce_mean(tf.square(slope - 1.0))
            gap = tf.reduce_mean(self.critic(real, training=True)) - tf.reduce_mean(
                self.critic(fake, training=True)
            )
            loss = self.penalty * gp - gap
        grads = tape.gradient(loss, self.critic.trainable_variables)
        self.c_opt.apply_gradients(zip(grads, self.critic.trainable_variables))
        return gap, gp

    def train_step(self, real):
        batches = tf.split(real, self.critic_steps)
        for part in batches:
            gap, gp = self.critic_update(part)
            self.track_w.update_state(gap)
            self.track_gp.update_state(gp)
        n = tf.shape(batches[0])[0]
        with tf.GradientTape() as tape:
            fake = self.generator(tf.random.normal([n, LATENT]), training=True)
            loss = -tf.reduce_mean(self.critic(fake, training=True))
        grads = tape.gradient(loss, self.generator.trainable_variables)
        self.g_opt.apply_gradients(zip(grads, self.generator.trainable_variables))
        self.track_g.update_state(loss)
        return {m.name: m.result() for m in self.metrics}


class SlicedDistance(keras.callbacks.Callback):
    """Every few epochs, how far are the samples from fresh data?"""

    def __init__(self, reference, every):
        super().__init__()
        self.reference, self.every = reference, every
        angles = np.linspace(0, np.pi, 32, endpoint=False)
        self.directions = np.stack([np.cos(angles), np.sin(angles)]).astype("float32")

    def on_epoch_end(self, epoch, logs=None):
        if (epoch + 1) % self.every:
            return
        z = tf.random.normal([len(self.reference), LATENT])
        fake = self.model.generator(z).numpy()
        a = np.sort(self.reference @ self.directions, axis=0)
        b = np.sort(fake @ self.directions, axis=0)
        print(f"  -> sliced W1 after epoch {epoch + 1}: {np.abs(a - b).mean():.4f}", flush=True)


def main():
    rng = np.random.default_rng(1)
    keras.utils.set_random_seed(1)
    critic_steps, batch = 5, 320
    data = spiral(64000, rng)
    feed = (
        tf.data.Dataset.from_tensor_slices(data)
        .batch(critic_steps * batch, drop_remainder=True)
        .cache()
        .shuffle(50, seed=1)
        .prefetch(2)
    )
    gan = SpiralWGAN(critic_steps)
    gan.compile(
        keras.optimizers.Adam(1e-4, beta_1=0.5, beta_2=0.9),
        keras.optimizers.Adam(1e-3, beta_1=0.5, beta_2=0.9),
    )
    gan.fit(feed, epochs=12, verbose=2, callbacks=[SlicedDistance(spiral(2000, rng), 3)])


if __name__ == "__main__":
    main()
