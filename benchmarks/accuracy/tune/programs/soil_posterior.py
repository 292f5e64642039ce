# Posterior of soil moisture coefficients: Hamiltonian Monte Carlo on a wide
# random-feature regression. Flat script, from the notebook.
import time

import numpy as np
import tensorflow as tf

tf.random.set_seed(30)
rng = np.random.default_rng(30)

# --- data -------------------------------------------------------------
n, d, width = 16000, 9, 1024
x = rng.normal(size=(n, d)).astype("float32")
moisture = np.sin(x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] - 0.3 * np.abs(x[:, 3])
y = (moisture + rng.normal(0, 0.3, n)).astype("float32")[:, None]

freq = rng.normal(0, 0.6, (d, width)).astype("float32")
phase = rng.uniform(0, 2 * np.pi, width).astype("float32")
phi = tf.constant(np.cos(x @ freq + phase) * np.sqrt(2 / width), tf.float32)
y = tf.constant(y)

# --- model ------------------------------------------------------------
chains = 24
noise_var, prior_var = 0.09, 4.0
q = tf.random.normal([width, chains]) * 0.1


def energy_and_grad(q):
    resid = tf.matmul(phi, q) - y
    e = tf.reduce_sum(tf.square(resid), 0) / (2 * noise_var) + tf.reduce_sum(tf.square(q), 0) / (
        2 * prior_var
    )
    g = tf.matmul(phi, resid, transpose_a=True) / noise_var + q / prior_var
    return e, g


# --- sampler ----------------------------------------------------------
eps = 0.004
target = 0.8
mean = tf.zeros_like(q)
second = tf.zeros_like(q)
kept = 0
moves = 150
rate = tf.zeros([])

start = time.time()
energy, grad = energy_and_grad(q)
for move in range(moves):
    p = tf.random.normal(tf.shape(q))
    h0 = energy + 0.5 * tf.reduce_sum(tf.square(p), 0)
    leaps = int(rng.integers(5, 9))
    qn, gn = q, grad
    p = p - 0.5 * eps * gn
    for k in range(leaps):
        qn = qn + eps * p
        en, gn = energy_and_grad(qn)
        p = p - (eps if k < leaps - 1 else 0.5 * eps) * gn
    h1 = en + 0.5 * tf.reduce_sum(tf.square(p), 0)
    accept = tf.math.log(tf.random.uniform([chains])) < h0 - h1
    q = tf.where(accept, qn, q)
    energy = tf.where(accept, en, energy)
    grad = tf.where(accept, gn, grad)
    rate = tf.reduce_mean(tf.cast(accept, tf.float32))
    if move < 40:
        eps *= 1.05 if float(rate) > target else 0.93
    else:
        kept += 1
        mean = mean + (q - mean) / kept
        second = second + (q**2 - second) / kept
    if move % 20 == 0:
        print(
            f"move {move:3d} eps {eps:.4f} accept {float(rate):.2f} "
            f"energy {float(tf.reduce_mean(energy)):.1f}"
        )
print("train wall", round(time.time() - start, 2))

post_mean = tf.reduce_mean(mean, 1, keepdims=True)
fit = tf.matmul(phi, post_mean)
print("rmse", float(tf.sqrt(tf.reduce_mean((fit - y) ** 2))))
print("mean posterior sd", float(tf.reduce_mean(tf.sqrt(tf.nn.relu(second - mean**2)))))
