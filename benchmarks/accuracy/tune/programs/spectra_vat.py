"""Semi-supervised classification of mineral spectra with virtual adversarial training."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import time

import keras
import numpy as np
import tensorflow as tf
from keras import layers

MINERALS = 8
CHANNELS = 256
LABELLED = 160
UNLABELLED = 6000
POWER_ITERATIONS = 3
XI = 1.0
EPSILON = 0.8


def spectra(rng, n, lines):
    """Gaussian absorption lines of a mineral on a random continuum."""
    grid = np.linspace(0.0, 1.0, CHANNELS)
    kind = rng.integers(0, MINERALS, n)
    out = 0.3 * rng.normal(size=(n, 1)) * grid + 0.2 * rng.normal(size=(n, 1))
    for j in range(lines.shape[1]):
        centre = lines[kind, j, 0][:, None] + rng.normal(0, 0.006, (n, 1))
        depth = lines[kind, j, 1][:, None] * rng.uniform(0.4, 1.2, (n, 1))
        out = out - depth * np.exp(-(((grid - centre) / 0.02) ** 2))
    out = out + rng.normal(0, 0.18, out.shape)
    return out.astype(np.float32)[..., None], kind.astype(np.int32)


def build_network():
    return keras.Sequential(
        [
            keras.Input((CHANNELS, 1)),
            layers.Conv1D(16, 9, strides=2, padding="same", activation="softplus"),
            layers.Conv1D(32, 7, strides=2, padding="same", activation="softplus"),
            layers.Conv1D(32, 5, strides=2, padding="same", activation="softplus"),
            layers.Flatten(),
            layers.Dense(64, activation="softplus"),
            layers.Dense(MINERALS),
        ],
        name="spectra",
    )


def unit(d):
    return d * tf.math.rsqrt(tf.reduce_sum(d * d, axis=[1, 2], keepdims=True) + 1e-6)


def kl_divergence(p_logits, q_logits):
    p = tf.nn.softmax(p_logits)
    return tf.reduce_sum(p * (tf.nn.log_softmax(p_logits) - tf.nn.log_softmax(q_logits)), axis=-1)


def adversarial_direction(network, x, logits):
    d = unit(tf.random.normal(tf.shape(x)))
    for _ in range(POWER_ITERATIONS):
        with tf.GradientTape() as probe:
            probe.watch(d)
            distance = kl_divergence(logits, network(x + XI * d, training=True))
        d = unit(probe.gradient(distance, d))
    return EPSILON * d


def make_step(network, optimizer):
    ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def step(x_lab, y_lab, x_unl):
        clean = tf.stop_gradient(network(x_unl, training=True))
        with tf.GradientTape() as tape:
            supervised = ce(y_lab, network(x_lab, training=True))
            r_adv = adversarial_direction(network, x_unl, clean)
            smooth = tf.reduce_mean(kl_divergence(clean, network(x_unl + r_adv, training=True)))
            loss = supervised + smooth
        grads = tape.gradient(loss, network.trainable_variables)
        grads, _ = tf.clip_by_global_norm(grads, 1.0)
        optimizer.apply_gradients(zip(grads, network.trainable_variables))
        return supervised, smooth

    return step


def endless(x, y, batch, seed):
    data = tf.data.Dataset.from_tensor_slices((x, y) if y is not None else x)
    return iter(
        data.shuffle(len(x), seed=seed).repeat().batch(batch, drop_remainder=True).prefetch(4)
    )


def accuracy(network, x, y):
    return float(np.mean(network.predict(x, batch_size=500, verbose=0).argmax(-1) == y))


def main(epochs=7, steps_per_epoch=70):
    keras.utils.set_random_seed(9)
    rng = np.random.default_rng(12)
    lines = np.stack(
        [rng.uniform(0.1, 0.9, (MINERALS, 3)), rng.uniform(0.4, 0.8, (MINERALS, 3))], axis=-1
    )
    x_lab, y_lab = spectra(rng, LABELLED, lines)
    x_unl, _ = spectra(rng, UNLABELLED, lines)
    x_test, y_test = spectra(rng, 1500, lines)

    network = build_network()
    optimizer = keras.optimizers.Adam(1e-3)
    step = make_step(network, optimizer)
    labelled = endless(x_lab, y_lab, 32, seed=1)
    unlabelled = endless(x_unl, None, 128, seed=2)

    for epoch in range(1, epochs + 1):
        began = time.perf_counter()
        sums = np.zeros(2)
        for _ in range(steps_per_epoch):
            xb, yb = next(labelled)
            sums += [float(v) for v in step(xb, yb, next(unlabelled))]
        ce, lds = sums / steps_per_epoch
        print(
            f"epoch {epoch}: cross-entropy {ce:.4f}  smoothness {lds:.4f}"
            f"  test accuracy {accuracy(network, x_test, y_test):.4f}"
            f"  ({time.perf_counter() - began:.1f} s)",
            flush=True,
        )


if __name__ == "__main__":
    main()
