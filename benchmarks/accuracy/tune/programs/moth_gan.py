"""WGAN-GP that draws moth wing patterns (24x24, grey)."""

import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(5)
rng = np.random.default_rng(5)
SIDE, Z, CRITIC_STEPS = 24, 32, 5


def wings(n):
    yy, xx = np.mgrid[-1 : 1 : SIDE * 1j, -1 : 1 : SIDE * 1j]
    a = rng.uniform(2, 7, (n, 1, 1))
    spot = rng.uniform(0.2, 0.7, (n, 1, 1))
    img = np.cos(a * np.abs(xx)) * np.exp(-(yy**2) * 2) + 1.5 * np.exp(
        -((np.abs(xx) - spot) ** 2 + yy**2) * 30
    )
    return np.clip(img / 1.5, -1, 1)[..., None].astype("float32")


def build_generator():
    return keras.Sequential(
        [
            keras.Input((Z,)),
            layers.Dense(6 * 6 * 48, activation="relu"),
            layers.Reshape((6, 6, 48)),
            layers.UpSampling2D(),
            layers.Conv2D(32, 3, padding="same", activation="relu"),
            layers.UpSampling2D(),
            layers.Conv2D(16, 3, padding="same", activation="relu"),
            layers.Conv2D(1, 3, padding="same", activation="tanh"),
        ]
    )


def build_critic():
    return keras.Sequential(
        [
            keras.Input((SIDE, SIDE, 1)),
            layers.Conv2D(24, 5, strides=2, padding="same"),
            layers.LeakyReLU(0.2),
            layers.Conv2D(48, 5, strides=2, padding="same"),
            layers.LeakyReLU(0.2),
            layers.Flatten(),
            layers.Dense(1),
        ]
    )


class MothGAN(keras.Model):
    def __init__(self, generator, critic):
        super().__init__()
        self.generator, self.critic = generator, critic
        self.c_metric = keras.metrics.Mean(name="critic")
        self.g_metric = keras.metrics.Mean(name="gen")
        self.gp_metric = keras.metrics.Mean(name="gp")

    def compile(self, g_opt, c_opt):
        super().compile(jit_compile=False)
        self.g_opt, self.c_opt = g_opt, c_opt

    @property
    def metrics(self):
        return [self.c_metric, self.g_metric, self.gp_metric]

    def penalty(self, real, fake):
        eps = tf.random.uniform([tf.shape(real)[0], 1, 1, 1])
        mid = eps * real + (1 - eps) * fake
        with tf.GradientTape() as t:
            t.watch(mid)
            s = self.critic(mid, training=True)
        g = t.gradient(s, mid)
        norm = tf.sqrt(tf.reduce_sum(g**2, axis=[1, 2, 3]) + 1e-8)
        return tf.reduce_mean((norm - 1.0) ** 2)

    def train_step(self, real):
        n = tf.shape(real)[0]
        for _ in range(CRITIC_STEPS):
            fake = self.generator(tf.random.normal([n, Z]), training=True)
            with tf.GradientTape() as tape:
                wd = tf.reduce_mean(self.critic(fake, training=True)) - tf.reduce_mean(
                    self.critic(real, training=True)
                )
                gp = self.penalty(real, fake)
                loss = wd + 10.0 * gp
            self.c_opt.apply(
                tape.gradient(loss, self.critic.trainable_variables),
                self.critic.trainable_variables,
            )
        with tf.GradientTape() as tape:
            fake = self.generator(tf.random.normal([n, Z]), training=True)
            g_loss = -tf.reduce_mean(self.critic(fake, training=True))
        gv = self.generator.trainable_variables
        self.g_opt.apply(tape.gradient(g_loss, gv), gv)
        self.c_metric.update_state(wd)
        self.g_metric.update_state(g_loss)
        self.gp_metric.update_state(gp)
        return {m.name: m.result() for m in self.metrics}


class Peek(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.z = tf.random.normal([16, Z])

    def on_epoch_end(self, epoch, logs=None):
        img = self.model.generator(self.z).numpy()
        print(
            f"   samples: mean {img.mean():.3f} std {img.std():.3f} left-right symmetry "
            f"{1 - np.abs(img - img[:, :, ::-1]).mean():.3f}"
        )


data = wings(1920)
gan = MothGAN(build_generator(), build_critic())
gan.compile(keras.optimizers.Adam(2e-4, 0.5, 0.9), keras.optimizers.Adam(2e-4, 0.5, 0.9))
ds = (
    tf.data.Dataset.from_tensor_slices(data)
    .shuffle(len(data))
    .batch(64, drop_remainder=True)
    .prefetch(2)
)
gan.fit(ds, epochs=6, verbose=2, callbacks=[Peek()])
