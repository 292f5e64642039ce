"""WGAN-GP on 32x32 ornament patches."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

SIZE, ZDIM, N_CRITIC, GP = 32, 64, 3, 10.0
rng = np.random.default_rng(2)


def ornaments(n):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE].astype(np.float32) / SIZE - 0.5
    k = rng.integers(3, 9, (n, 1, 1))
    ph = rng.uniform(0, 6.28, (n, 1, 1))
    r, th = np.hypot(xx, yy)[None], np.arctan2(yy, xx)[None]
    a = np.cos(k * th + ph + 12 * r) * np.exp(-4 * r * r)
    img = np.stack([a, a * np.cos(ph), np.sin(8 * r + ph) + 0 * a], -1)
    return np.clip(img, -1, 1).astype(np.float32)


def critic():
    return keras.Sequential(
        [
            keras.Input((SIZE, SIZE, 3)),
            layers.Conv2D(32, 5, 2, "same"),
            layers.LeakyReLU(0.2),
            layers.Conv2D(64, 5, 2, "same"),
            layers.LeakyReLU(0.2),
            layers.Conv2D(128, 5, 2, "same"),
            layers.LeakyReLU(0.2),
            layers.Flatten(),
            layers.Dense(1),
        ]
    )


def generator():
    return keras.Sequential(
        [
            keras.Input((ZDIM,)),
            layers.Dense(4 * 4 * 128, use_bias=False),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.Reshape((4, 4, 128)),
            layers.Conv2DTranspose(64, 4, 2, "same", use_bias=False),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.Conv2DTranspose(32, 4, 2, "same", use_bias=False),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.Conv2DTranspose(3, 4, 2, "same", activation="tanh"),
        ]
    )


class FrescoGAN(keras.Model):
    def __init__(self):
        super().__init__()
        self.D, self.G = critic(), generator()

    def compile(self, d_opt, g_opt):
        super().compile()
        self.d_opt, self.g_opt = d_opt, g_opt
        d_opt.build(self.D.trainable_variables)
        g_opt.build(self.G.trainable_variables)

    def train_step(self, real):
        n = tf.shape(real)[0]
        for _ in range(N_CRITIC):
            fake = self.G(tf.random.normal([n, ZDIM]), training=True)
            mix = tf.random.uniform([n, 1, 1, 1])
            with tf.GradientTape() as tape:
                s = self.D(tf.concat([real, fake], 0), training=True)
                w = tf.reduce_mean(s[n:]) - tf.reduce_mean(s[:n])
                inter = real + mix * (fake - real)
                with tf.GradientTape() as gp_tape:
                    gp_tape.watch(inter)
                    si = self.D(inter, training=True)
                gi = gp_tape.gradient(si, inter)
                norm = tf.sqrt(tf.reduce_sum(gi**2, [1, 2, 3]) + 1e-12)
                gp = tf.reduce_mean((norm - 1.0) ** 2)
                d_loss = w + GP * gp
            self.d_opt.apply_gradients(
                zip(tape.gradient(d_loss, self.D.trainable_variables), self.D.trainable_variables)
            )
        with tf.GradientTape() as tape:
            g_loss = -tf.reduce_mean(
                self.D(self.G(tf.random.normal([n, ZDIM]), training=True), training=True)
            )
        self.g_opt.apply_gradients(
            zip(tape.gradient(g_loss, self.G.trainable_variables), self.G.trainable_variables)
        )
        return {"wasserstein": -w, "gp": gp, "g_loss": g_loss}


def patches():
    imgs = ornaments(2048)
    while True:
        yield imgs[rng.integers(0, len(imgs), 64)]


ds = tf.data.Dataset.from_generator(
    patches, output_signature=tf.TensorSpec([64, SIZE, SIZE, 3], tf.float32)
).prefetch(2)
gan = FrescoGAN()
gan.compile(
    keras.optimizers.Adam(1e-4, beta_1=0.0, beta_2=0.9),
    keras.optimizers.Adam(1e-4, beta_1=0.0, beta_2=0.9),
)
fixed_z = tf.random.normal([16, ZDIM], seed=1)
for round_ in range(4):
    gan.fit(ds, steps_per_epoch=18, epochs=1, verbose=2)
    im = gan.G(fixed_z, training=False).numpy()
    print("samples after round", round_, "mean %.3f std %.3f" % (im.mean(), im.std()))
