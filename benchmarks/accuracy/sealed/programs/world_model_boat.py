"""Sailing with a learned model of the boat: drive it, learn how it moves, then plan in the dream."""

import numpy as np
import tensorflow as tf

STATE, ACTION, DREAM = 6, 2, 12
tf.random.set_seed(2)
rng = np.random.default_rng(2)


def sail(state, action):
    """What the boat does: place, heading, speed and the wind's angle."""
    x, y, heading, speed, wind, gust = np.moveaxis(state, -1, 0)
    rudder, sheet = np.moveaxis(np.tanh(action), -1, 0)
    drive = np.maximum(np.cos(wind - heading + 0.8 * sheet), -0.2) * (1 + gust)
    speed = 0.9 * speed + 0.1 * drive
    heading = heading + 0.2 * rudder * speed
    gust = 0.8 * gust + rng.normal(0, 0.05, gust.shape)
    x, y = x + 0.1 * speed * np.cos(heading), y + 0.1 * speed * np.sin(heading)
    return np.stack([x, y, heading, speed, wind, gust], -1).astype("float32")


def harbour(n):
    return rng.normal(0, [0.3, 0.3, 0.5, 0.1, 0.5, 0.1], (n, STATE)).astype("float32")


def mlp(inputs, outputs, width):
    return tf.keras.Sequential(
        [
            tf.keras.Input((inputs,)),
            tf.keras.layers.Dense(width, activation="swish"),
            tf.keras.layers.Dense(width, activation="swish"),
            tf.keras.layers.Dense(outputs),
        ]
    )


dynamics = mlp(STATE + ACTION, STATE, 320)
dynamics.compile(optimizer=tf.keras.optimizers.Adam(1e-3), loss="mae")
skipper = mlp(STATE, ACTION, 96)
skipper_optimizer = tf.keras.optimizers.Adam(1e-3)


@tf.function
def dream(state):
    """The skipper's gradient through the model of the boat."""
    with tf.GradientTape() as tape:
        far = 0.0
        for _ in range(DREAM):
            action = tf.tanh(skipper(state))
            state = state + dynamics(tf.concat([state, action], -1))
            far += tf.reduce_mean(tf.norm(state[:, :2] - [2.0, 1.0], axis=-1))
    grads = tape.gradient(far, skipper.trainable_variables)
    grads, _ = tf.clip_by_global_norm(grads, 1.0)
    skipper_optimizer.apply_gradients(zip(grads, skipper.trainable_variables))
    return far / DREAM


@tf.function
def steer(state):
    return skipper(state)


def voyage(boats=128, hours=40):
    state, log = harbour(boats), []
    for _ in range(hours):
        action = steer(state).numpy() + rng.normal(0, 0.4, (boats, ACTION)).astype("float32")
        after = sail(state, action)
        log.append((np.concatenate([state, np.tanh(action)], -1), after - state))
        state = after
    return [np.concatenate(part) for part in zip(*log)], np.hypot(*(state[:, :2] - [2, 1]).T).mean()


x, y = np.zeros((0, STATE + ACTION), "float32"), np.zeros((0, STATE), "float32")
for season in range(8):
    (new_x, new_y), far = voyage()
    x, y = np.concatenate([x, new_x]), np.concatenate([y, new_y])
    for _ in range(110):
        rows = rng.integers(0, len(x), 512)
        error = dynamics.train_on_batch(x[rows], y[rows])
    for _ in range(35):
        state = x[rng.integers(0, len(x), 256), :STATE]
        dreamt = dream(tf.constant(state))
    print(
        f"season {season}: {far:.2f} from the buoy, model {float(error):.4f}, dreamt {dreamt:.2f}"
    )
