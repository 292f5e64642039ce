"""A controller for a crane learns through the known dynamics, one correction after each move."""

import numpy as np
import tensorflow as tf

HORIZON, EPISODES, CRANES, DT = 50, 6, 32, 0.1
rng = np.random.default_rng(0)


def dynamics(state, force):
    """Cart, its speed, angle of the load, and the speed of that."""
    x, v, angle, spin = tf.unstack(state, axis=1)
    push = 3.0 * force[:, 0]
    spin = spin + DT * (-9.8 * tf.sin(angle) - push * tf.cos(angle)) / 2.0
    angle = angle + DT * spin
    v = v + DT * (push - 0.1 * v)
    return tf.stack([x + DT * v, v, angle, spin], axis=1)


class Controller(tf.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.w1 = tf.Variable(tf.random.normal([4, hidden], stddev=0.3, seed=1))
        self.b1 = tf.Variable(tf.zeros([hidden]))
        self.w2 = tf.Variable(tf.random.normal([hidden, 1], stddev=0.3, seed=2))

    def __call__(self, state):
        return tf.nn.tanh(tf.nn.tanh(state @ self.w1 + self.b1) @ self.w2)


def price(state, force):
    x, v, angle, _ = tf.unstack(state, axis=1)
    return tf.reduce_mean(x**2 + 0.1 * v**2 + 2.0 * angle**2) + 0.01 * tf.reduce_mean(force**2)


controller = Controller()
optimizer = tf.keras.optimizers.Adam(1e-3, clipnorm=1.0)
weights = list(controller.trainable_variables)
optimizer.build(weights)

for episode in range(EPISODES):
    state = tf.constant(rng.normal(0, 0.5, (CRANES, 4)), tf.float32)
    total = tf.constant(0.0)
    with tf.GradientTape(persistent=True) as tape:
        for t in range(HORIZON):
            force = controller(state)
            state = dynamics(state, force)
            total += price(state, force)
            with tape.stop_recording():
                gradients = tape.gradient(total, weights)
                optimizer.apply_gradients(zip(gradients, weights))
    del tape
    print(f"episode {episode}: price of {HORIZON} moves {float(total):.3f}")
