"""A learned time stepper for heat flow on a plate with random sources.

The network is a tf.Module with residual blocks; the reference solution is
made by explicit finite differences.
"""

import math
import time

import keras
import numpy as np
import tensorflow as tf

GRID = 16
WIDTH = 16
BLOCKS = 11
BATCH = 8
STEPS = 440
HOLD = 60
PEAK = 2e-2


def laplacian(u):
    p = np.pad(u, ((0, 0), (1, 1), (1, 1)), mode="edge")
    return p[:, 2:, 1:-1] + p[:, :-2, 1:-1] + p[:, 1:-1, 2:] + p[:, 1:-1, :-2] - 4.0 * u


def make_plates(count, seed):
    """Start field, source, conductivity and the field 20 steps later."""
    rng = np.random.default_rng(seed)
    start = rng.normal(size=(count, GRID, GRID))
    for _ in range(12):
        start = start + 0.2 * laplacian(start)
    start = start * 4.0
    source = (rng.random((count, GRID, GRID)) > 0.985) * 1.5
    conduct = rng.uniform(0.05, 0.22, size=(count, 1, 1))
    field = start.copy()
    for _ in range(20):
        field = field + conduct * laplacian(field) + 0.05 * source
    grid_k = np.broadcast_to(conduct * 5.0, field.shape)
    inputs = np.stack([start, source, grid_k], axis=-1).astype(np.float32)
    return inputs, field[..., None].astype(np.float32)


class Stepper(tf.Module):
    def __init__(self, name="stepper"):
        super().__init__(name=name)
        init = tf.random.Generator.from_seed(3)

        def kernel(size, fan_in, fan_out, gain=1.0):
            scale = gain / math.sqrt(size * size * fan_in)
            return tf.Variable(init.normal([size, size, fan_in, fan_out]) * scale)

        self.lift = kernel(3, 3, WIDTH)
        self.blocks = []
        for _ in range(BLOCKS):
            self.blocks.append(
                (
                    kernel(3, WIDTH, WIDTH),
                    tf.Variable(tf.zeros([WIDTH])),
                    kernel(3, WIDTH, WIDTH, 0.3),
                    tf.Variable(tf.zeros([WIDTH])),
                )
            )
        self.drop = kernel(1, WIDTH, 1, 0.2)

    def __call__(self, x):
        h = tf.nn.conv2d(x, self.lift, 1, "SAME")
        for k1, b1, k2, b2 in self.blocks:
            r = tf.nn.gelu(tf.nn.conv2d(h, k1, 1, "SAME") + b1)
            h = h + tf.nn.conv2d(r, k2, 1, "SAME") + b2
        return x[..., :1] + tf.nn.conv2d(h, self.drop, 1, "SAME")


def rate_at(step):
    if step < HOLD:
        return PEAK
    done = (step - HOLD) / (STEPS - HOLD)
    return PEAK * (0.02 + 0.98 * 0.5 * (1.0 + math.cos(math.pi * done)))


def with_rate(opt, rate, weights):
    """The same optimizer, velocities included, with another rate."""
    new = keras.optimizers.SGD(rate, momentum=0.9, nesterov=True)
    new.build(weights)
    for ours, theirs in zip(new.variables, opt.variables):
        ours.assign(theirs)
    new.learning_rate = rate
    return new


def main():
    tf.random.set_seed(3)
    rng = np.random.default_rng(4)
    x, y = make_plates(1600, seed=1)
    x_test, y_test = make_plates(160, seed=2)
    net = Stepper()
    weights = list(net.trainable_variables)

    @tf.function
    def gradients(xb, yb):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(net(xb) - yb))
        grads = tape.gradient(loss, weights)
        grads, _ = tf.clip_by_global_norm(grads, 1.0)
        return loss, grads

    forward = tf.function(net.__call__)
    opt = keras.optimizers.SGD(PEAK, momentum=0.9, nesterov=True)
    began = time.time()
    smooth = None
    for step in range(STEPS):
        if step >= HOLD:
            opt = with_rate(opt, rate_at(step), weights)
        pick = rng.integers(0, len(x), size=BATCH)
        loss, grads = gradients(tf.constant(x[pick]), tf.constant(y[pick]))
        opt.apply_gradients(zip(grads, weights))
        loss = float(loss)
        smooth = loss if smooth is None else 0.95 * smooth + 0.05 * loss
        if (step + 1) % 50 == 0:
            print(f"step {step + 1:4d}  loss {smooth:.4f}  {time.time() - began:.1f}s", flush=True)
    guess = forward(tf.constant(x_test)).numpy()
    base = np.mean((x_test[..., :1] - y_test) ** 2)
    print(f"test error {np.mean((guess - y_test) ** 2):.4f} (no change: {base:.4f})")


if __name__ == "__main__":
    main()
