"""Search for element phases of a circular antenna array with low sidelobes.

Many random starts are refined side by side with Adam. A start whose cost has
stopped moving is finished; its phases go on to the list of candidates.
"""

import time

import numpy as np
import tensorflow as tf

ELEMENTS = 16
ANGLES = 121
STARTS = 160
BLOCK = 10  # Adam steps between two looks at the costs
MAX_BLOCKS = 150
TOLERANCE = 2e-4


def steering_matrix():
    pos = 2 * np.pi * np.arange(ELEMENTS) / ELEMENTS
    theta = np.linspace(-np.pi, np.pi, ANGLES)
    radius = 1.4
    return (2 * np.pi * radius * np.cos(theta[None, :] - pos[:, None])).astype("float32")


STEER = tf.constant(steering_matrix())
MAIN = tf.constant((np.abs(np.linspace(-np.pi, np.pi, ANGLES)) < 0.20).astype("float32"))


def pattern(phases):
    """Power in dB-free units, shape [starts, angles]."""
    total = phases[:, :, None] + STEER[None]
    re = tf.reduce_sum(tf.cos(total), axis=1)
    im = tf.reduce_sum(tf.sin(total), axis=1)
    return (re * re + im * im) / ELEMENTS**2


def cost(phases):
    p = pattern(phases)
    peak = tf.reduce_sum(p * MAIN, axis=1) / tf.reduce_sum(MAIN)
    side = tf.reduce_logsumexp(60.0 * p * (1.0 - MAIN), axis=1) / 60.0
    return side - 0.8 * peak


ROWS = tf.TensorSpec([None, ELEMENTS], tf.float32)
SCALAR = tf.TensorSpec([], tf.float32)


@tf.function(jit_compile=True, input_signature=[ROWS, ROWS, ROWS, SCALAR, SCALAR])
def refine(phases, m, v, t, lr):
    """BLOCK Adam steps for all of the given starts."""
    for i in tf.range(BLOCK):
        with tf.GradientTape() as tape:
            tape.watch(phases)
            c = cost(phases)
        g = tape.gradient(c, phases)
        k = t + tf.cast(i, tf.float32) + 1.0
        m = 0.9 * m + 0.1 * g
        v = 0.99 * v + 0.01 * g * g
        step = (m / (1.0 - 0.9**k)) / (tf.sqrt(v / (1.0 - 0.99**k)) + 1e-8)
        phases = phases - lr * step
    return phases, m, v, cost(phases)


def search(seed=0):
    rng = np.random.default_rng(seed)
    phases = tf.constant(rng.uniform(-np.pi, np.pi, (STARTS, ELEMENTS)).astype("float32"))
    m = tf.zeros_like(phases)
    v = tf.zeros_like(phases)
    previous = np.full(STARTS, np.inf)
    ids = np.arange(STARTS)
    final = {}
    begin = time.time()
    for block in range(MAX_BLOCKS):
        lr = tf.constant(0.004, tf.float32)
        phases, m, v, c = refine(phases, m, v, tf.constant(float(block * BLOCK)), lr)
        c = c.numpy()
        open_ = (previous - c > TOLERANCE) if block >= 3 else np.ones(len(c), bool)
        for j in np.flatnonzero(~open_):
            final[ids[j]] = (c[j], phases[j].numpy())
        if not open_.any():
            break
        phases = tf.boolean_mask(phases, open_)
        m = tf.boolean_mask(m, open_)
        v = tf.boolean_mask(v, open_)
        ids = ids[open_]
        previous = c[open_]
        if block % 10 == 0:
            print(
                f"block {block:3d}  open {open_.sum():4d}  best {c.min():+.4f}  {time.time() - begin:5.1f}s"
            )
    for j, i in enumerate(ids):
        final.setdefault(i, (c[j] if len(c) == len(ids) else np.inf, phases[j].numpy()))
    return final


def main():
    final = search()
    order = sorted(final, key=lambda i: final[i][0])
    print("finished starts:", len(final))
    for i in order[:5]:
        c, ph = final[i]
        p = pattern(tf.constant(ph[None])).numpy()[0]
        off = p[np.abs(np.linspace(-np.pi, np.pi, ANGLES)) > 0.35]
        print(f"start {i:4d}  cost {c:+.4f}  sidelobe {10 * np.log10(off.max() / p.max()):6.2f} dB")


if __name__ == "__main__":
    main()
