"""
WGAN-GP on small ring images.
The critic is trained to near-optimality at the beginning and again every 100
generator updates, as in the reference implementation.
"""

import os, tempfile
import numpy as np
import tensorflow as tf
from PIL import Image

tf.random.set_seed(99)
npr = np.random.RandomState(99)

Z, BS, LAMBDA = 48, 32, 10.0
GEN_ITERS = 500
OUT = tempfile.mkdtemp(prefix="wgan_")


def rings(n, size=20):
    yy, xx = np.mgrid[0:size, 0:size].astype("float32")
    c = npr.uniform(7, 13, (n, 2, 1, 1))
    r = npr.uniform(3, 7, (n, 1, 1))
    d = np.sqrt((xx - c[:, 0]) ** 2 + (yy - c[:, 1]) ** 2) - r
    return (2 * np.exp(-(d**2) / 1.5) - 1).astype("float32")[..., None]


def mlp_generator():
    return tf.keras.Sequential(
        [
            tf.keras.layers.Input((Z,)),
            tf.keras.layers.Dense(5 * 5 * 64, activation="relu"),
            tf.keras.layers.Reshape((5, 5, 64)),
            tf.keras.layers.UpSampling2D(),
            tf.keras.layers.Conv2D(32, 3, padding="same", activation="relu"),
            tf.keras.layers.UpSampling2D(),
            tf.keras.layers.Conv2D(16, 3, padding="same", activation="relu"),
            tf.keras.layers.Conv2D(1, 3, padding="same", activation="tanh"),
        ]
    )


def conv_critic():
    return tf.keras.Sequential(
        [
            tf.keras.layers.Input((20, 20, 1)),
            tf.keras.layers.Conv2D(24, 5, 2, padding="same", activation="leaky_relu"),
            tf.keras.layers.Conv2D(48, 5, 2, padding="same", activation="leaky_relu"),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(1),
        ]
    )


G, D = mlp_generator(), conv_critic()
g_opt = tf.keras.optimizers.Adam(1e-4, beta_1=0.5, beta_2=0.9)
d_opt = tf.keras.optimizers.Adam(1e-4, beta_1=0.5, beta_2=0.9)
pool = tf.constant(rings(4000))
fixed_z = tf.random.normal([64, Z])


@tf.function
def critic_update():
    real = tf.gather(pool, tf.random.uniform([BS], 0, 4000, tf.int32))
    fake = G(tf.random.normal([BS, Z]), training=True)
    eps = tf.random.uniform([BS, 1, 1, 1])
    mix = eps * real + (1 - eps) * fake
    with tf.GradientTape() as tape:
        with tf.GradientTape() as inner:
            inner.watch(mix)
            d_mix = D(mix, training=True)
        slope = tf.sqrt(tf.reduce_sum(inner.gradient(d_mix, mix) ** 2, [1, 2, 3]) + 1e-12)
        w = tf.reduce_mean(D(real, training=True)) - tf.reduce_mean(D(fake, training=True))
        loss = -w + LAMBDA * tf.reduce_mean((slope - 1) ** 2)
    d_opt.apply_gradients(zip(tape.gradient(loss, D.trainable_variables), D.trainable_variables))
    return w


@tf.function
def generator_update():
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(D(G(tf.random.normal([BS, Z]), training=True), training=True))
    g_opt.apply_gradients(zip(tape.gradient(loss, G.trainable_variables), G.trainable_variables))


def save_grid(path):
    x = (G(fixed_z, training=False).numpy()[..., 0] + 1) / 2
    grid = x.reshape(8, 8, 20, 20).transpose(0, 2, 1, 3).reshape(160, 160)
    Image.fromarray((grid * 255).astype("uint8")).resize((480, 480)).save(path)


def critic_iterations(g_it):
    if g_it < 15 or g_it % 100 == 0:
        return 50
    return 5


estimates = []
for g_it in range(GEN_ITERS):
    for _ in range(critic_iterations(g_it)):
        w = critic_update()
    estimates = estimates + [float(w)]
    generator_update()
    if g_it % 40 == 0:
        save_grid(os.path.join(OUT, "%05d.png" % g_it))
        G.save_weights(os.path.join(OUT, "G.weights.h5"))
        print(
            "gen %4d   W %.3f   (mean of last 50: %.3f)"
            % (g_it, estimates[-1], np.mean(estimates[-50:]))
        )
