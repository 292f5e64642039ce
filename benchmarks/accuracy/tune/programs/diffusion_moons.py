"""Denoising diffusion of points on two moons, with averaged weights and pictures now and then."""

import math

import numpy as np
import tensorflow as tf

T = 100
betas = np.linspace(1e-4, 0.05, T, dtype=np.float32)
alpha_bars = tf.constant(np.cumprod(1 - betas))
rng = np.random.default_rng(6)


def moons(n):
    angle = rng.uniform(0, math.pi, n)
    upper = rng.integers(0, 2, n)
    x = np.where(upper, np.cos(angle), 1 - np.cos(angle))
    y = np.where(upper, np.sin(angle), 0.5 - np.sin(angle))
    return (np.stack([x, y], 1) + rng.normal(0, 0.05, (n, 2))).astype(np.float32)


def embed(t):
    freqs = tf.exp(tf.linspace(0.0, 6.0, 16))
    angle = tf.cast(t, tf.float32)[:, None] / T * freqs
    return tf.concat([tf.sin(angle), tf.cos(angle)], 1)


def make_net():
    x = tf.keras.Input((2,))
    t = tf.keras.Input((32,))
    h = tf.keras.layers.Concatenate()([x, t])
    for _ in range(3):
        h = tf.keras.layers.Dense(128, activation="silu")(h)
    return tf.keras.Model([x, t], tf.keras.layers.Dense(2)(h))


net, shadow = make_net(), make_net()
shadow.set_weights(net.get_weights())
schedule = tf.keras.optimizers.schedules.CosineDecay(2e-3, 3000)
optimizer = tf.keras.optimizers.Adam(schedule)


@tf.function(input_signature=[tf.TensorSpec([None, 2])])
def train_step(x0):
    n = tf.shape(x0)[0]
    t = tf.random.uniform([n], 0, T, tf.int32)
    ab = tf.gather(alpha_bars, t)[:, None]
    noise = tf.random.normal(tf.shape(x0))
    with tf.GradientTape() as tape:
        guess = net([tf.sqrt(ab) * x0 + tf.sqrt(1 - ab) * noise, embed(t)])
        loss = tf.reduce_mean((guess - noise) ** 2)
    grads = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(grads, net.trainable_variables))
    for slow, fast in zip(shadow.variables, net.variables):
        slow.assign(0.995 * slow + 0.005 * fast)
    return loss


@tf.function
def sample(n):
    x = tf.random.normal([n, 2])
    for step in tf.range(T - 1, -1, -1):
        beta = tf.gather(tf.constant(betas), step)
        ab = tf.gather(alpha_bars, step)
        eps = shadow([x, embed(tf.repeat(step, n))])
        x = (x - beta / tf.sqrt(1 - ab) * eps) / tf.sqrt(1 - beta)
        if step > 0:
            x += tf.sqrt(beta) * tf.random.normal(tf.shape(x))
    return x


for step in range(3000):
    loss = train_step(moons(256))
    if step % 500 == 499:
        points = sample(tf.constant(400)).numpy()
        np.savetxt(f"points_{step + 1}.txt", points, "%.3f")
        print(f"step {step + 1} loss {float(loss):.4f} spread {points.std(0).round(2)}")
