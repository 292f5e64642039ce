"""WGAN-GP on 24x24 pictures of rings, generator weights averaged for the evaluation."""

import os
import tempfile
import time

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

SIZE = 24
LATENT = 32
BATCH = 64
CRITIC_STEPS = 3
STEPS = 280
EVAL_EVERY = 50
GP_WEIGHT = 10.0
EMA_DECAY = 0.98

tf.keras.utils.set_random_seed(19)


def ring_images(n, rng):
    grid = np.linspace(-1, 1, SIZE, dtype=np.float32)
    yy, xx = np.meshgrid(grid, grid, indexing="ij")
    cx, cy = rng.uniform(-0.3, 0.3, (2, n, 1, 1)).astype(np.float32)
    radius = rng.uniform(0.3, 0.65, (n, 1, 1)).astype(np.float32)
    width = rng.uniform(0.08, 0.15, (n, 1, 1)).astype(np.float32)
    r = np.sqrt((xx[None] - cx) ** 2 + (yy[None] - cy) ** 2)
    return (2 * np.exp(-(((r - radius) / width) ** 2)) - 1)[..., None]


def make_generator():
    z = tf.keras.Input((LATENT,))
    x = layers.Dense(6 * 6 * 96, use_bias=False)(z)
    x = layers.BatchNormalization()(x)
    x = layers.ReLU()(x)
    x = layers.Reshape((6, 6, 96))(x)
    x = layers.Conv2DTranspose(64, 4, strides=2, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization()(x)
    x = layers.ReLU()(x)
    x = layers.Conv2DTranspose(32, 4, strides=2, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization()(x)
    x = layers.ReLU()(x)
    return tf.keras.Model(z, layers.Conv2D(1, 3, padding="same", activation="tanh")(x))


def make_critic():
    img = tf.keras.Input((SIZE, SIZE, 1))
    x = layers.Conv2D(32, 4, strides=2, padding="same")(img)
    x = layers.LeakyReLU(negative_slope=0.2)(x)
    x = layers.Conv2D(64, 4, strides=2, padding="same")(x)
    x = layers.LeakyReLU(negative_slope=0.2)(x)
    x = layers.Conv2D(96, 3, strides=2, padding="same")(x)
    x = layers.LeakyReLU(negative_slope=0.2)(x)
    return tf.keras.Model(img, layers.Dense(1)(layers.Flatten()(x)))


generator, averaged, critic = make_generator(), make_generator(), make_critic()
averaged.set_weights(generator.get_weights())
decay = tf.keras.optimizers.schedules.PolynomialDecay(3e-4, STEPS, 5e-5)
decay_c = tf.keras.optimizers.schedules.PolynomialDecay(3e-4, STEPS * CRITIC_STEPS, 5e-5)
g_opt = tf.keras.optimizers.Adam(decay, beta_1=0.0, beta_2=0.9)
c_opt = tf.keras.optimizers.Adam(decay_c, beta_1=0.0, beta_2=0.9)


@tf.function
def critic_step(real):
    fake = generator(tf.random.normal([BATCH, LATENT]), training=True)
    mix = tf.random.uniform([BATCH, 1, 1, 1])
    between = mix * real + (1.0 - mix) * fake
    with tf.GradientTape() as tape:
        scores = critic(tf.concat([real, fake], axis=0), training=True)
        real_score, fake_score = tf.split(scores, 2)
        with tf.GradientTape() as inner:
            inner.watch(between)
            between_score = critic(between, training=True)
        slope = tf.sqrt(
            tf.reduce_sum(tf.square(inner.gradient(between_score, between)), [1, 2, 3]) + 1e-12
        )
        penalty = tf.reduce_mean(tf.square(slope - 1.0))
        gap = tf.reduce_mean(real_score) - tf.reduce_mean(fake_score)
        loss = -gap + GP_WEIGHT * penalty
    grads = tape.gradient(loss, critic.trainable_variables)
    c_opt.apply_gradients(zip(grads, critic.trainable_variables))
    return gap


@tf.function
def generator_step():
    with tf.GradientTape() as tape:
        fake = generator(tf.random.normal([BATCH, LATENT]), training=True)
        loss = -tf.reduce_mean(critic(fake, training=True))
    grads = tape.gradient(loss, generator.trainable_variables)
    g_opt.apply_gradients(zip(grads, generator.trainable_variables))
    for slow, fast in zip(averaged.variables, generator.variables):
        if slow.dtype.startswith("float"):
            slow.assign(EMA_DECAY * slow + (1.0 - EMA_DECAY) * fast)
    return loss


@tf.function
def sample(z):
    return averaged(z, training=False)


def radial_profile(images):
    grid = np.linspace(-1, 1, SIZE)
    r = np.sqrt(grid[:, None] ** 2 + grid[None] ** 2)
    bins = np.digitize(r.ravel(), np.linspace(0, 1.4, 15))
    mean_image = images.mean(0).ravel()
    return np.bincount(bins, weights=mean_image, minlength=16) / np.maximum(
        np.bincount(bins, minlength=16), 1
    )


def main():
    rng = np.random.default_rng(19)
    images = ring_images(9000, rng)
    reference = radial_profile(images)
    fixed_z = tf.constant(rng.standard_normal((512, LATENT)), tf.float32)
    batches = iter(
        tf.data.Dataset.from_tensor_slices(images)
        .shuffle(9000, seed=19)
        .repeat()
        .batch(BATCH, drop_remainder=True)
        .prefetch(4)
    )
    started = time.time()
    with tempfile.TemporaryDirectory() as folder:
        for step in range(1, STEPS + 1):
            for _ in range(CRITIC_STEPS):
                gap = critic_step(next(batches))
            generator_step()
            if step % EVAL_EVERY == 0:
                fakes = sample(fixed_z).numpy()
                distance = np.abs(radial_profile(fakes) - reference).mean()
                print(
                    f"step {step} gap {float(gap):.3f} profile distance {distance:.4f} "
                    f"pixel std {fakes.std():.3f} {time.time() - started:.1f}s"
                )
        averaged.save_weights(os.path.join(folder, "generator.weights.h5"))


if __name__ == "__main__":
    main()
