"""Population based training of four networks that copy from the best one every 150 batches."""

import random
import typing

import numpy as np
import tensorflow as tf


class Member(typing.NamedTuple):
    name: str
    model: tf.keras.Model


def make(name, rate):
    model = tf.keras.Sequential(
        [
            tf.keras.Input((64,)),
            tf.keras.layers.Dense(96, activation="relu"),
            tf.keras.layers.Dense(96, activation="relu"),
            tf.keras.layers.Dense(10, activation="softmax"),
        ]
    )
    model.compile(
        tf.keras.optimizers.SGD(rate, momentum=0.9),
        "sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    return Member(name, model)


def exploit(members, scores):
    ranked = sorted(members, key=lambda m: scores[m.name])
    worst, best = ranked[0], ranked[-1]
    worst.model.set_weights(best.model.get_weights())
    rate = float(best.model.optimizer.learning_rate.numpy()) * random.choice([0.8, 1.25])
    worst.model.optimizer.learning_rate.assign(rate)
    return worst.name, best.name, rate


random.seed(1)
rng = np.random.default_rng(1)
centers = rng.normal(size=(10, 64))


def batch(n):
    y = rng.integers(0, 10, n)
    return (centers[y] + rng.normal(0, 1.5, (n, 64))).astype("float32"), y


x_valid, y_valid = batch(1000)
population = [make(f"net{k}", rate) for k, rate in enumerate((0.3, 0.1, 0.01, 0.001))]
for round_ in range(1, 601):
    for member in population:
        member.model.train_on_batch(*batch(64))
    if round_ % 150 == 0:
        scores = {}
        for member in population:
            guess = np.argmax(member.model(x_valid, training=False), 1)
            scores[member.name] = float(np.mean(guess == y_valid))
        print(round_, scores, "%s copies %s, rate %.4f" % exploit(population, scores))
