"""DQN: the first 400 moves only fill the replay buffer; the target follows every 100 moves."""

import collections
import random

import numpy as np
import tensorflow as tf


def make_net():
    return tf.keras.Sequential(
        [
            tf.keras.layers.InputLayer((6,)),
            tf.keras.layers.Dense(128, "relu"),
            tf.keras.layers.Dense(128, "relu"),
            tf.keras.layers.Dense(3),
        ]
    )


online, target = make_net(), make_net()
target.set_weights(online.get_weights())
adam = tf.keras.optimizers.Adam(5e-4)
buffer = collections.deque(maxlen=5000)


@tf.function
def q_values(s):
    return online(s)


@tf.function
def learn(s, a, r, n):
    aim = r + 0.97 * tf.reduce_max(target(n), 1)
    with tf.GradientTape() as tape:
        q = tf.reduce_sum(online(s) * tf.one_hot(a, 3), 1)
        loss = tf.reduce_mean((aim - q) ** 2)
    adam.apply_gradients(
        zip(tape.gradient(loss, online.trainable_variables), online.trainable_variables)
    )
    return loss


epsilon, state = 1.0, np.zeros(6, "float32")
for move in range(2600):
    if random.random() < epsilon:
        action = random.randrange(3)
    else:
        action = int(tf.argmax(q_values(state[None])[0]))
    following = (0.9 * state + np.random.normal(size=6) * (action + 1)).astype("float32")
    buffer.append((state, action, -abs(following[0]), following))
    state = following
    if len(buffer) < 400:
        continue
    epsilon = max(0.05, epsilon * 0.998)
    s, a, r, n = map(np.array, zip(*random.sample(buffer, 64)))
    loss = learn(s, a, r.astype("float32"), n)
    if move % 100 == 0:
        target.set_weights(online.get_weights())
        print(move, "epsilon", round(epsilon, 2), "loss", float(loss))
