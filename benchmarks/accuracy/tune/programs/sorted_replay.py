"""Q-learning whose replay takes the most surprising transitions of all that were ever seen."""

import numpy as np
import tensorflow as tf


class Policy(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.a = tf.keras.layers.Dense(64, activation="relu")
        self.b = tf.keras.layers.Dense(3)

    def call(self, x):
        return self.b(self.a(x))


class Replay:
    def __init__(self):
        self.entries = []

    def add(self, surprise, transition):
        self.entries.append((surprise, transition))

    def best(self, n):
        ranked = sorted(self.entries, key=lambda e: abs(e[0]), reverse=True)
        return [transition for _, transition in ranked[:n]]


policy, replay = Policy(), Replay()
opt = tf.keras.optimizers.Adam(1e-3)


@tf.function(reduce_retracing=True)
def learn(s, a, target):
    with tf.GradientTape() as tape:
        q = tf.gather(policy(s), a, axis=1, batch_dims=1)
        error = target - q
        loss = tf.reduce_mean(tf.square(error))
    grads = tape.gradient(loss, policy.trainable_variables)
    opt.apply_gradients(zip(grads, policy.trainable_variables))
    return error


rng = np.random.default_rng(12)
for step in range(400):
    for _ in range(250):
        replay.add(rng.normal(), (rng.random(8), int(rng.integers(3)), rng.random()))
    rows = replay.best(64)
    s = np.array([r[0] for r in rows], np.float32)
    a = np.array([r[1] for r in rows])
    t = np.array([r[2] for r in rows], np.float32)
    error = learn(tf.constant(s), tf.constant(a), tf.constant(t))
    if step % 50 == 0:
        print(step, len(replay.entries), float(tf.reduce_mean(error)))
