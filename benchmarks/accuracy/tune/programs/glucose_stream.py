"""Blood glucose, an hour ahead: the net is updated with each reading of each day, as it comes."""

import numpy as np
import tensorflow as tf

READINGS, DAYS, PATIENTS, UNITS = 24, 56, 64, 96
rng = np.random.default_rng(31)


def day_of_readings():
    """Glucose, insulin and carbohydrates, for all patients together."""
    sugar = rng.uniform(5, 8, PATIENTS)
    rows = []
    for _ in range(READINGS + 1):
        meal = (rng.random(PATIENTS) < 0.05) * rng.uniform(1, 5, PATIENTS)
        dose = (sugar > 9) * rng.uniform(0.2, 0.6, PATIENTS)
        sugar = sugar + 0.4 * meal - 1.5 * dose + 0.05 * (6 - sugar)
        sugar += rng.normal(0, 0.1, PATIENTS)
        rows.append(np.stack([sugar / 10, dose, meal / 5], -1))
    return np.stack(rows).astype("float32")


class Recurrent(tf.Module):
    def __init__(self):
        super().__init__()
        scale = UNITS**-0.5
        self.gates = tf.Variable(tf.random.normal([3 + UNITS, 2 * UNITS], stddev=scale, seed=1))
        self.new = tf.Variable(tf.random.normal([3 + UNITS, UNITS], stddev=scale, seed=2))
        self.out = tf.Variable(tf.random.normal([UNITS, 1], stddev=scale, seed=3))
        self.bias = tf.Variable(tf.zeros([1]))

    def __call__(self, x, state):
        z, r = tf.split(tf.sigmoid(tf.concat([x, state], -1) @ self.gates), 2, axis=-1)
        new = tf.tanh(tf.concat([x, r * state], -1) @ self.new)
        state = (1 - z) * state + z * new
        return x[:, :1] + state @ self.out + self.bias, state


net = Recurrent()
optimizer = tf.keras.optimizers.SGD(0.02, clipnorm=1.0)
for day in range(DAYS):
    readings = tf.constant(day_of_readings())
    state = tf.zeros([PATIENTS, UNITS])
    errors = []
    with tf.GradientTape(persistent=True) as tape:
        for t in range(READINGS):
            guess, state = net(readings[t], state)
            loss = tf.reduce_mean((guess[:, 0] - readings[t + 1, :, 0]) ** 2)
            with tape.stop_recording():
                grads = tape.gradient(loss, net.trainable_variables)
                optimizer.apply_gradients(zip(grads, net.trainable_variables))
            errors.append(float(loss) ** 0.5)
    del tape
    if day % 7 == 0:
        print(
            f"day {day}: off by {10 * np.mean(errors):.2f} mmol/l, at the end {10 * errors[-1]:.2f}"
        )
