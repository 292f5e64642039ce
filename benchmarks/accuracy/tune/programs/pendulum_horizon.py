"""A model of a double pendulum; the rollouts that it must match get longer in four stages."""

import numpy as np
import tensorflow as tf

DT, BATCH = 0.02, 64
HORIZONS = [4, 8, 16, 32]
STEPS_PER_STAGE = 620


def simulate(n, steps):
    rng = np.random.default_rng(83)
    q = rng.uniform(-1.5, 1.5, (n, 2))
    w = rng.normal(0, 0.5, (n, 2))
    frames = []
    for _ in range(steps):
        frames.append(np.concatenate([np.sin(q), np.cos(q), w], 1))
        for _ in range(4):
            gap = q[:, 0] - q[:, 1]
            pull = np.stack(
                [
                    -9.8 * np.sin(q[:, 0]) - np.sin(gap) * w[:, 1] ** 2,
                    -9.8 * np.sin(q[:, 1]) + np.sin(gap) * w[:, 0] ** 2,
                ],
                1,
            )
            w = w + DT / 4 * pull
            q = q + DT / 4 * w
    return np.stack(frames, 1).astype("float32")


class Change(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.hidden = tf.keras.layers.Dense(160, activation="silu")
        self.more = tf.keras.layers.Dense(160, activation="silu")
        self.out = tf.keras.layers.Dense(6, kernel_initializer="zeros")

    def call(self, x):
        return x + DT * self.out(self.more(self.hidden(x)))


change = Change()
change.build((BATCH, 6))
change(tf.zeros((BATCH, 6)))
optimizer = tf.keras.optimizers.Adam(1e-3)
optimizer.build(change.trainable_variables)


@tf.function(input_signature=[tf.TensorSpec([BATCH, None, 6], tf.float32)])
def rollout_step(truth):
    horizon = tf.shape(truth)[1]
    with tf.GradientTape() as tape:
        state, error = truth[:, 0], 0.0
        for t in tf.range(1, horizon):
            state = change(state)
            error += tf.reduce_mean((state - truth[:, t]) ** 2)
        loss = error / tf.cast(horizon - 1, tf.float32)
    grads = tape.gradient(loss, change.trainable_variables)
    optimizer.apply_gradients(zip(grads, change.trainable_variables))
    return loss


pendulums = simulate(400, 160)
rng = np.random.default_rng(84)
for horizon in HORIZONS:
    total = 0.0
    for _ in range(STEPS_PER_STAGE):
        which = rng.integers(0, len(pendulums), BATCH)
        start = rng.integers(0, pendulums.shape[1] - horizon - 1, BATCH)
        truth = np.stack([pendulums[w, s : s + horizon + 1] for w, s in zip(which, start)])
        total += float(rollout_step(tf.constant(truth)))
    print(f"horizon {horizon}: mean error {total / STEPS_PER_STAGE:.6f}")
