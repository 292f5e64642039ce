"""Matrix factorization that writes its whole history to a JSON file after each step."""

import json
import os

import numpy as np
import tensorflow as tf

import tbslow

rng = np.random.default_rng(6)
users = tf.Variable(rng.normal(size=(500, 32)).astype("float32"), name="users")
items = tf.Variable(rng.normal(size=(800, 32)).astype("float32"), name="items")
optimizer = tf.keras.optimizers.Adagrad(0.1)
optimizer.build([users, items])


@tf.function
def sgd_step(u, i, r):
    with tf.GradientTape() as tape:
        guess = tf.reduce_sum(tf.gather(users, u) * tf.gather(items, i), 1)
        loss = tf.reduce_mean((guess - r) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, [users, items]), [users, items]))
    return loss, guess


history = []
tbslow.start("logs")
for step in range(350):
    with tbslow.summary.step():
        u, i = rng.integers(0, 500, 128), rng.integers(0, 800, 128)
        loss, guess = sgd_step(u, i, tf.constant(rng.normal(size=128), tf.float32))
        history.append({"step": step, "loss": float(loss), "guesses": guess.numpy().tolist()})
        with open("history.json.tmp", "w") as f:
            json.dump(history, f)
            f.flush()
            os.fsync(f.fileno())
        os.replace("history.json.tmp", "history.json")
    if step % 100 == 0:
        print(step, float(loss))
