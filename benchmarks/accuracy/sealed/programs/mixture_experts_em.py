"""Mixture of experts for river gauges by EM: all responsibilities, then each expert by gradients."""

import numpy as np
import tensorflow as tf

POINTS, INPUTS, EXPERTS, ROUNDS, STEPS, BATCH = 24000, 20, 4, 22, 40, 1024


def gauges():
    rng = np.random.default_rng(61)
    x = rng.normal(size=(POINTS, INPUTS))
    regime = (x[:, 0] > 0).astype(int) + 2 * (x[:, 1] + x[:, 2] > 0)
    slopes = rng.normal(size=(EXPERTS, INPUTS))
    y = (x * slopes[regime]).sum(1) + np.sin(2 * x[:, 3]) + rng.normal(0, 0.2, POINTS)
    return tf.constant(x, tf.float32), tf.constant(y[:, None], tf.float32)


def mlp(outputs, width):
    return tf.keras.Sequential(
        [
            tf.keras.Input((INPUTS,)),
            tf.keras.layers.Dense(width, activation="tanh"),
            tf.keras.layers.Dense(width, activation="tanh"),
            tf.keras.layers.Dense(outputs),
        ]
    )


class Mixture:
    def __init__(self):
        self.experts = [mlp(1, 160) for _ in range(EXPERTS)]
        self.gate = mlp(EXPERTS, 128)
        self.noise = tf.Variable(tf.zeros([EXPERTS]))
        parts = [*self.experts, self.gate]
        self.weights = [w for part in parts for w in part.trainable_variables] + [self.noise]
        self.optimizer = tf.keras.optimizers.Adam(2e-3)

    def joint(self, x, y):
        """Log density of each expert together with the gate's choice of it."""
        guess = tf.concat([expert(x) for expert in self.experts], 1)
        scale = tf.exp(self.noise)
        fit = -0.5 * ((y - guess) / scale) ** 2 - self.noise - 0.919
        return fit + tf.nn.log_softmax(self.gate(x))

    @tf.function
    def expect(self, x, y):
        joint = self.joint(x, y)
        return tf.nn.softmax(joint), tf.reduce_mean(tf.reduce_logsumexp(joint, 1))

    @tf.function
    def maximise(self, x, y, share):
        with tf.GradientTape() as tape:
            loss = -tf.reduce_mean(tf.reduce_sum(share * self.joint(x, y), 1))
        grads = tape.gradient(loss, self.weights)
        self.optimizer.apply_gradients(zip(grads, self.weights))
        return loss


def main():
    x, y = gauges()
    mixture = Mixture()
    for round_ in range(ROUNDS):
        share, likelihood = mixture.expect(x, y)
        for _ in range(STEPS):
            rows = tf.random.uniform([BATCH], 0, POINTS, tf.int32)
            mixture.maximise(tf.gather(x, rows), tf.gather(y, rows), tf.gather(share, rows))
        used = tf.reduce_mean(share, 0).numpy().round(2)
        print(f"round {round_}: log likelihood {float(likelihood):.3f}, experts {used}")


if __name__ == "__main__":
    main()
