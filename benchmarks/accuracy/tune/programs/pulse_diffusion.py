"""DDPM on synthetic heartbeat traces, Keras denoiser, trained in short rounds."""

import math
import time

import keras
import numpy as np
import tensorflow as tf
from keras import layers

LENGTH, STEPS_T = 64, 200
RECORDINGS = 20000


def beat(params):
    """(rate, phase, width, tilt) -> a trace of two or three beats."""
    rate, phase, width, tilt = tf.unstack(params)
    t = tf.linspace(0.0, 1.0, LENGTH)
    cycle = tf.math.floormod(t * rate + phase, 1.0)
    spike = tf.exp(-tf.square((cycle - 0.4) / width))
    wave = 0.3 * tf.exp(-tf.square((cycle - 0.7) / (3.0 * width)))
    trace = 2.0 * spike + wave + tilt * (t - 0.5)
    return (trace - tf.reduce_mean(trace))[:, None]


def recordings(seed, batch):
    rng = np.random.default_rng(seed)
    params = np.stack(
        [
            rng.uniform(2, 3.5, RECORDINGS),
            rng.uniform(0, 1, RECORDINGS),
            rng.uniform(0.03, 0.07, RECORDINGS),
            rng.normal(0, 0.5, RECORDINGS),
        ],
        1,
    )
    return (
        tf.data.Dataset.from_tensor_slices(params.astype("float32"))
        .map(beat, num_parallel_calls=2)
        .shuffle(10000, seed=seed)
        .repeat()
        .batch(batch, drop_remainder=True)
        .prefetch(4)
    )


def build_denoiser(width=32):
    x = keras.Input((LENGTH, 1))
    t = keras.Input(())
    freqs = np.exp(np.linspace(0, math.log(100), 8)).astype("float32")
    ang = t[:, None] * freqs[None]
    emb = layers.Dense(width, activation="silu")(
        keras.ops.concatenate([keras.ops.sin(ang), keras.ops.cos(ang)], -1)
    )
    h = layers.Conv1D(width, 5, padding="same")(x)
    skip = h
    h = layers.Conv1D(width, 5, strides=2, padding="same", activation="silu")(h)
    for dilation in (1, 2, 4):
        r = layers.Conv1D(width, 3, dilation_rate=dilation, padding="same")(
            h + layers.Dense(width)(emb)[:, None]
        )
        h = h + layers.Conv1D(width, 1)(layers.Activation("silu")(r))
    h = layers.UpSampling1D(2)(h)
    h = layers.Concatenate()([h, skip])
    h = layers.Conv1D(width, 5, padding="same", activation="silu")(h)
    return keras.Model([x, t], layers.Conv1D(1, 3, padding="same")(h))


class Diffusion:
    def __init__(self, net, lr=1e-3):
        self.net = net
        self.opt = keras.optimizers.Adam(lr, clipnorm=1.0)
        self.opt.build(net.trainable_variables)
        betas = np.linspace(1e-4, 0.05, STEPS_T)
        self.alphas = tf.constant(1 - betas, tf.float32)
        self.abar = tf.constant(np.cumprod(1 - betas), tf.float32)

    @tf.function
    def train_step(self, x0):
        n = tf.shape(x0)[0]
        t = tf.random.uniform([n], 0, STEPS_T, tf.int32)
        a = tf.gather(self.abar, t)[:, None, None]
        noise = tf.random.normal(tf.shape(x0))
        with tf.GradientTape() as tape:
            guess = self.net(
                [tf.sqrt(a) * x0 + tf.sqrt(1 - a) * noise, tf.cast(t, tf.float32) / STEPS_T],
                training=True,
            )
            loss = tf.reduce_mean(tf.square(guess - noise))
        self.opt.apply_gradients(
            zip(tape.gradient(loss, self.net.trainable_variables), self.net.trainable_variables)
        )
        return loss

    @tf.function
    def sample(self, n):
        x = tf.random.normal([n, LENGTH, 1])
        for t in tf.range(STEPS_T - 1, -1, -1):
            a, ab = self.alphas[t], self.abar[t]
            eps = self.net([x, tf.fill([n], tf.cast(t, tf.float32) / STEPS_T)], training=False)
            x = (x - (1 - a) / tf.sqrt(1 - ab) * eps) / tf.sqrt(a)
            if t > 0:
                x += tf.sqrt(1 - a) * tf.random.normal(tf.shape(x))
        return x


def run_round(diffusion, data, steps):
    return float(np.mean([diffusion.train_step(x0) for x0 in data.take(steps)]))


def main(rounds=21, steps_per_round=25, batch=64):
    keras.utils.set_random_seed(8)
    data = recordings(8, batch)
    diffusion = Diffusion(build_denoiser())
    diffusion.net.summary(line_length=80)
    for k in range(rounds):
        began = time.time()
        loss = run_round(diffusion, data, steps_per_round)
        print(
            f"round {k + 1:02d}/{rounds} - eps mse {loss:.4f} - {time.time() - began:.2f}s",
            flush=True,
        )
    traces = diffusion.sample(tf.constant(16)).numpy()
    print(f"samples: peak {traces.max(axis=1).mean():.2f}, std {traces.std():.3f}")


if __name__ == "__main__":
    main()
