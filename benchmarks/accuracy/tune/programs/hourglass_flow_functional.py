"""Sand flow through hourglass necks: regression of the discharge curve.

Written in the functional way (parameters in, parameters out), compiled with
XLA; all the state is plain nested dictionaries.
"""

from typing import NamedTuple

import numpy as np
import tensorflow as tf

SEED = 12
WIDTH = 224
DEPTH = 6
EPOCHS = 9
BATCH = 256
N = 15_360


class Hyper(NamedTuple):
    lr: float
    beta1: float = 0.9
    beta2: float = 0.99
    eps: float = 1e-7
    decay: float = 1e-4


def pour(n, seed=SEED):
    """Neck width, grain size, fill, roughness, tilt, humidity -> rate, jitter."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, (n, 6)).astype("float32")
    neck, grain, fill, rough, tilt, wet = x.T
    rate = np.maximum(0.1, 1.6 + neck - 0.4 * grain) ** 2.5 * np.cos(tilt) * (1 - 0.2 * rough)
    jam = 1 / (1 + np.exp(-6 * (grain - neck + 0.5 * wet)))
    y = np.stack([rate * (1 - jam) + 0.1 * fill, jam * rough], axis=1)
    y += rng.normal(0, 0.02, y.shape)
    return x, y.astype("float32")


def init_params(seed):
    rng = np.random.default_rng(seed)
    sizes = [6] + [WIDTH] * DEPTH + [2]
    params = {}
    for i, (a, b) in enumerate(zip(sizes[:-1], sizes[1:])):
        params[f"layer{i}"] = {
            "w": tf.constant(rng.normal(0, np.sqrt(2 / a), (a, b)), tf.float32),
            "b": tf.zeros((b,)),
            "g": tf.ones((b,)),
        }
    return params


def init_state(params):
    zeros = lambda: tf.nest.map_structure(tf.zeros_like, params)
    return {"m": zeros(), "v": zeros(), "t": tf.constant(0.0)}


def forward(params, x):
    h = x
    last = len(params) - 1
    for i in range(last + 1):
        p = params[f"layer{i}"]
        z = h @ p["w"]
        if i == last:
            return z * p["g"] + p["b"]
        mean, var = tf.nn.moments(z, axes=[1], keepdims=True)
        z = (z - mean) * tf.math.rsqrt(var + 1e-5) * p["g"] + p["b"]
        z = tf.nn.silu(z)
        h = z + h if i else z


def loss_fn(params, x, y):
    err = forward(params, x) - y
    return tf.reduce_mean(tf.where(tf.abs(err) < 0.5, err**2, tf.abs(err) - 0.25))


@tf.function(jit_compile=True)
def update(params, state, x, y, hp):
    flat = tf.nest.flatten(params)
    with tf.GradientTape() as tape:
        tape.watch(flat)
        loss = loss_fn(params, x, y)
    grads = tape.gradient(loss, flat)
    t = state["t"] + 1.0
    c1 = 1.0 - hp.beta1**t
    c2 = 1.0 - hp.beta2**t
    new_p, new_m, new_v = [], [], []
    for p, g, m, v in zip(flat, grads, tf.nest.flatten(state["m"]), tf.nest.flatten(state["v"])):
        m = hp.beta1 * m + (1 - hp.beta1) * g
        v = hp.beta2 * v + (1 - hp.beta2) * g * g
        p = p - hp.lr * ((m / c1) / (tf.sqrt(v / c2) + hp.eps) + hp.decay * p)
        new_p.append(p)
        new_m.append(m)
        new_v.append(v)
    pack = lambda xs: tf.nest.pack_sequence_as(params, xs)
    return pack(new_p), {"m": pack(new_m), "v": pack(new_v), "t": t}, loss


def main():
    x, y = pour(N)
    x, y = tf.constant(x), tf.constant(y)
    params = init_params(SEED)
    state = init_state(params)
    order = np.random.default_rng(SEED)

    hp = Hyper(lr=2e-3)
    for epoch in range(EPOCHS):
        perm = order.permutation(N)
        losses = []
        for at in range(0, N, BATCH):
            rows = tf.constant(perm[at : at + BATCH])
            params, state, loss = update(params, state, tf.gather(x, rows), tf.gather(y, rows), hp)
            losses.append(loss)
        print(f"epoch {epoch:2d}  lr {float(hp.lr):.5f}  loss {float(tf.reduce_mean(losses)):.5f}")
        hp = hp._replace(lr=hp.lr * 0.88)


if __name__ == "__main__":
    main()
