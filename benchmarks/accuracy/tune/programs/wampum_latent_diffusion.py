"""Latent diffusion for wampum belts: first an autoencoder, then a denoiser in its latents."""

import argparse
import time

import numpy as np
import tensorflow as tf

ap = argparse.ArgumentParser()
ap.add_argument("--belts", type=int, default=1500)
ap.add_argument("--ae-steps", type=int, default=40)
ap.add_argument("--diff-steps", type=int, default=420)
ap.add_argument("--batch", type=int, default=48)
ap.add_argument("--latent", type=int, default=64)
ap.add_argument("--levels", type=int, default=100)
args = ap.parse_args()


def weave(n, rng, h=24, w=24):
    belts = np.zeros((n, h, w, 1), "float32")
    yy, xx = np.mgrid[:h, :w]
    for i in range(n):
        a, b, k = rng.integers(1, 5), rng.integers(1, 5), rng.integers(3, 8)
        belts[i, ..., 0] = ((a * np.abs(xx - w // 2) + b * yy) // k) % 2
    return belts


class Conv(tf.Module):
    def __init__(self, cin, cout, rng, stride=1):
        super().__init__()
        scale = (2.0 / (9 * cin)) ** 0.5
        self.k = tf.Variable(rng.normal(size=(3, 3, cin, cout)).astype("float32") * scale)
        self.b = tf.Variable(tf.zeros(cout))
        self.stride = stride

    def __call__(self, x):
        return tf.nn.relu(tf.nn.conv2d(x, self.k, self.stride, "SAME") + self.b)


class Lin(tf.Module):
    def __init__(self, nin, nout, rng):
        super().__init__()
        self.w = tf.Variable(rng.normal(size=(nin, nout)).astype("float32") / nin**0.5)
        self.b = tf.Variable(tf.zeros(nout))

    def __call__(self, x):
        return x @ self.w + self.b


class Encoder(tf.Module):
    def __init__(self, rng, latent):
        super().__init__()
        self.convs = [
            Conv(1, 24, rng),
            Conv(24, 64, rng),
            Conv(64, 64, rng, 2),
            Conv(64, 48, rng, 2),
        ]
        self.head = Lin(6 * 6 * 48, latent, rng)

    def __call__(self, x):
        for c in self.convs:
            x = c(x)
        return tf.tanh(self.head(tf.reshape(x, (-1, 6 * 6 * 48))))


class Denoiser(tf.Module):
    def __init__(self, rng, latent):
        super().__init__()
        self.layers = [Lin(latent + 2, 256, rng), Lin(256, 256, rng), Lin(256, latent, rng)]

    def __call__(self, z, t):
        h = tf.concat([z, tf.sin(6.28 * t), tf.cos(6.28 * t)], 1)
        for lay in self.layers[:-1]:
            h = tf.nn.silu(lay(h))
        return self.layers[-1](h)


rng = np.random.default_rng(77)
tf.random.set_seed(77)
belts = weave(args.belts, rng)
encoder, decoder = Encoder(rng, args.latent), Lin(args.latent, 24 * 24, rng)
denoiser = Denoiser(rng, args.latent)
ae_opt, den_opt = tf.keras.optimizers.Adam(1e-3), tf.keras.optimizers.Adam(2e-3)
alpha = tf.constant(np.cumprod(1 - np.linspace(1e-3, 0.08, args.levels)), tf.float32)


def jitter(x):
    """belts may be cut anywhere: random roll and polarity, per batch"""
    x = tf.roll(x, tf.random.uniform((2,), 0, 24, tf.int32), (1, 2))
    return tf.where(tf.random.uniform((tf.shape(x)[0], 1, 1, 1)) < 0.5, x, 1.0 - x)


@tf.function
def ae_step(x):
    x = jitter(x)
    variables = encoder.trainable_variables + decoder.trainable_variables
    with tf.GradientTape() as tape:
        logits = decoder(encoder(x))
        loss = tf.reduce_mean(
            tf.nn.sigmoid_cross_entropy_with_logits(tf.reshape(x, (-1, 576)), logits)
        )
    ae_opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


@tf.function
def diffusion_step(x):
    x = jitter(x)
    with tf.GradientTape() as tape:
        z = encoder(x)
        t = tf.random.uniform((tf.shape(x)[0],), 0, args.levels, tf.int32)
        eps = tf.random.normal(tf.shape(z))
        a = tf.gather(alpha, t)[:, None]
        noisy = tf.sqrt(a) * z + tf.sqrt(1 - a) * eps
        guess = denoiser(noisy, tf.cast(t, tf.float32)[:, None] / args.levels)
        loss = tf.reduce_mean((guess - eps) ** 2)
    variables = tape.watched_variables()
    grads, norm = tf.clip_by_global_norm(tape.gradient(loss, variables), 1.0)
    mine = {v.ref() for v in denoiser.trainable_variables}
    den_opt.apply_gradients([(g, v) for g, v in zip(grads, variables) if v.ref() in mine])
    return loss, norm


def batches(steps):
    ds = tf.data.Dataset.from_tensor_slices(belts).shuffle(args.belts, seed=1)
    return ds.repeat().batch(args.batch).prefetch(2).take(steps)


start = time.time()
for x in batches(args.ae_steps):
    l = ae_step(x)
print(f"autoencoder bce {float(l):.4f} after {time.time() - start:.1f} s")
for i, x in enumerate(batches(args.diff_steps)):
    l, norm = diffusion_step(x)
    if (i + 1) % 80 == 0:
        print(f"diffusion step {i + 1:4d} mse {float(l):.4f} |g| {float(norm):.2f}")
print(f"total {time.time() - start:.1f} s")
