import numpy as np
import tensorflow as tf


class ThermalField:
    """Flat land with drifting thermals; everything is batched over gliders."""

    n_obs = 9
    n_act = 5  # bank angles

    def __init__(self, n_thermals, seed=0):
        rng = np.random.default_rng(seed)
        self.centre = tf.constant(rng.uniform(-3, 3, (n_thermals, 2)), tf.float32)
        self.power = tf.constant(rng.uniform(0.8, 2.5, n_thermals), tf.float32)
        self.width = tf.constant(rng.uniform(0.3, 0.8, n_thermals), tf.float32)
        self.banks = tf.constant(np.linspace(-0.6, 0.6, self.n_act), tf.float32)

    def lift(self, pos):
        d2 = tf.reduce_sum((pos[:, None, :] - self.centre[None]) ** 2, axis=2)
        return tf.reduce_sum(self.power * tf.exp(-d2 / (2 * self.width**2)), axis=1) - 0.6

    def launch(self, n):
        pos = tf.random.uniform([n, 2], -3.0, 3.0)
        heading = tf.random.uniform([n], -np.pi, np.pi)
        return pos, heading, tf.zeros([n])

    def observe(self, pos, heading, last):
        c, s = tf.cos(heading), tf.sin(heading)
        fwd = tf.stack([c, s], axis=1)
        side = tf.stack([-s, c], axis=1)
        feelers = tf.concat([pos, pos + 0.2 * side, pos - 0.2 * side, pos + 0.3 * fwd], axis=0)
        here, left, right, ahead = tf.split(self.lift(feelers), 4)
        return tf.stack(
            [
                here,
                left - here,
                right - here,
                ahead - here,
                last,
                pos[:, 0] / 3,
                pos[:, 1] / 3,
                c,
                s,
            ],
            axis=1,
        )

    def advance(self, pos, heading, action):
        heading = heading + tf.gather(self.banks, action)
        pos = pos + 0.15 * tf.stack([tf.cos(heading), tf.sin(heading)], axis=1)
        pos = tf.clip_by_value(pos, -4.0, 4.0)
        climb = self.lift(pos) - 0.3 * tf.gather(self.banks, action) ** 2
        return pos, heading, climb
