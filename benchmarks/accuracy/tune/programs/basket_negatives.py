"""Bayesian personalized ranking for grocery baskets, trained from a generator."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

USERS, ITEMS, BATCH, STEPS, EPOCHS = 600, 1500, 256, 100, 5


def purchases(seed=8):
    rng = np.random.default_rng(seed)
    taste = rng.integers(0, 30, USERS)
    history = {}
    for user in range(USERS):
        own = rng.integers(0, 50, 220) + 50 * taste[user]
        history[user] = list(np.concatenate([own, rng.integers(0, ITEMS, 180)]) % ITEMS)
    return history


def triplets(history, batch_size):
    """Yields (user, bought item, item that was not bought)."""
    rng = np.random.default_rng(0)
    users = list(history)
    while True:
        batch = []
        for _ in range(batch_size):
            user = users[rng.integers(len(users))]
            positive = history[user][rng.integers(len(history[user]))]
            negatives = []
            while len(negatives) < 4:
                item = rng.integers(ITEMS)
                if item not in history[user]:
                    negatives.append(item)
            batch.append([user, positive, *negatives])
        batch = np.array(batch, dtype="int32")
        yield (batch[:, 0], batch[:, 1], batch[:, 2:]), np.ones(batch_size, "float32")


class Tower(keras.layers.Layer):
    def __init__(self, vocabulary):
        super().__init__()
        self.table = keras.layers.Embedding(vocabulary, 48)
        self.hidden = [keras.layers.Dense(384, activation="relu") for _ in range(2)]
        self.out = keras.layers.Dense(48)

    def call(self, number):
        x = self.table(number)
        for layer in self.hidden:
            x = layer(x)
        return self.out(x)


user = keras.Input((), dtype="int32", name="user")
bought = keras.Input((), dtype="int32", name="bought")
other = keras.Input((4,), dtype="int32", name="other")
user_tower, item_tower = Tower(USERS), Tower(ITEMS)
vector = user_tower(user)
good = keras.ops.sum(vector * item_tower(bought), axis=-1, keepdims=True)
bad = keras.ops.sum(vector[:, None] * item_tower(other), axis=-1)
model = keras.Model((user, bought, other), good - bad)


def bpr_loss(_, margin):
    return -tf.reduce_mean(tf.math.log_sigmoid(margin))


model.compile(keras.optimizers.Adagrad(0.05), loss=bpr_loss)
history = purchases()
model.fit(triplets(history, BATCH), steps_per_epoch=STEPS, epochs=EPOCHS, verbose=2)
scores = keras.ops.matmul(
    user_tower(np.arange(20)), keras.ops.transpose(item_tower(np.arange(ITEMS)))
)
print("first user may like", np.argsort(-scores.numpy()[0])[:5])
