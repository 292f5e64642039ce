"""Evolution strategy for a hopping toy robot: no gradients, and it hops ever longer."""

import numpy as np
import tensorflow as tf

POPULATION, OBS, HIDDEN, ACT, LIMIT = 512, 5, 64, 2, 260
SIGMA, RATE, GENERATIONS = 0.08, 0.06, 75
SIZE = OBS * HIDDEN + HIDDEN + HIDDEN * HIDDEN + HIDDEN * ACT
rng = np.random.default_rng(41)


def split(theta):
    w1, b1, w2, w3 = tf.split(theta, [OBS * HIDDEN, HIDDEN, HIDDEN * HIDDEN, HIDDEN * ACT], axis=1)
    return (
        tf.reshape(w1, (-1, OBS, HIDDEN)),
        b1[:, None],
        tf.reshape(w2, (-1, HIDDEN, HIDDEN)),
        tf.reshape(w3, (-1, HIDDEN, ACT)),
    )


@tf.function(input_signature=[tf.TensorSpec([POPULATION, SIZE], tf.float32)])
def rollout(theta):
    """Runs all robots until the last has fallen."""
    w1, b1, w2, w3 = split(theta)
    state = tf.tile(tf.constant([[0.0, 0.05, 0.0, 1.0, 0.0]]), [POPULATION, 1])
    alive = tf.ones([POPULATION])
    reward = tf.zeros([POPULATION])
    t = 0
    while t < LIMIT and tf.reduce_any(alive > 0):
        hidden = tf.tanh(tf.matmul(state[:, None], w1) + b1)
        hidden = tf.tanh(tf.matmul(hidden, w2))
        action = tf.tanh(tf.matmul(hidden, w3))[:, 0]
        x, tilt, spin, height, rise = tf.unstack(state, axis=1)
        spin += 0.05 * (4.0 * tf.sin(tilt) + 2.0 * action[:, 0])
        tilt += 0.05 * spin
        rise = 0.9 * rise + 0.05 * (action[:, 1] - 2.0 * (height - 1.0))
        height += 0.05 * rise
        x += 0.05 * tilt
        state = tf.stack([x, tilt, spin, height, rise], axis=1)
        alive *= tf.cast((tf.abs(tilt) < 0.6) & (tf.abs(x) < 2.0), tf.float32)
        reward += alive
        t += 1
    return reward, t


center = np.zeros(SIZE, np.float32)
velocity = np.zeros_like(center)
for generation in range(GENERATIONS):
    half = rng.standard_normal((POPULATION // 2, SIZE), dtype=np.float32)
    noise = np.concatenate([half, -half])
    reward, ticks = rollout(tf.constant(center + SIGMA * noise))
    reward = reward.numpy()
    ranks = np.argsort(np.argsort(reward)) / (POPULATION - 1) - 0.5
    gradient = ranks.astype(np.float32) @ noise / (POPULATION * SIGMA)
    velocity = 0.9 * velocity + RATE * gradient
    center += velocity
    if generation % 5 == 0:
        print(f"generation {generation}: mean {reward.mean():.1f}, best {reward.max():.0f}")
