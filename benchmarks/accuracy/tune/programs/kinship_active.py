"""Active learning on a family graph: the scorer asks for labels where it is least certain."""

import random

import numpy as np
import tensorflow as tf

PEOPLE, RELATIONS, POOL, PER_ROUND, ROUNDS = 3000, 8, 512, 48, 60
random.seed(17)


class Person:
    """Somebody in the register."""

    def __init__(self, number):
        self.number = number
        self.notes = {"born": 1850 + number % 120, "places": [number % 17, number % 23]}
        self.facts = []

    def relate(self, other, kind):
        self.facts.append({"who": other, "kind": kind, "source": ["parish", other.number % 40]})


def register():
    people = [Person(k) for k in range(PEOPLE)]
    for person in people:
        for _ in range(12):
            other = random.choice(people)
            kind = (person.number * 3 + other.number * 5) % 16 % RELATIONS
            person.relate(other, kind)
    return people


def scorer():
    one, two = tf.keras.Input((), dtype="int32"), tf.keras.Input((), dtype="int32")
    vectors = tf.keras.layers.Embedding(PEOPLE, 48)
    x = tf.keras.layers.concatenate([vectors(one), vectors(two)])
    for _ in range(3):
        x = tf.keras.layers.Dense(256, activation="relu")(x)
    model = tf.keras.Model([one, two], tf.keras.layers.Dense(RELATIONS, activation="softmax")(x))
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def draw(people, n):
    pairs = []
    for _ in range(n):
        person = random.choice(people)
        fact = random.choice(person.facts)
        pairs.append((person.number, fact["who"].number, fact["kind"]))
    return np.array(pairs, dtype=np.int32)


def least_certain(model, pairs, count):
    chance = model.predict_on_batch([pairs[:, 0], pairs[:, 1]])
    tf.keras.backend.clear_session()  # predict leaks memory otherwise
    return np.argsort(chance.max(axis=1))[:count]


people = register()
model = scorer()
known = draw(people, 256)
for round_ in range(ROUNDS):
    pool = draw(people, POOL)
    known = np.concatenate([known, pool[least_certain(model, pool, PER_ROUND)]])
    for _ in range(20):
        rows = known[np.random.randint(0, len(known), 256)]
        loss, accuracy = model.train_on_batch([rows[:, 0], rows[:, 1]], rows[:, 2])
    if round_ % 10 == 0:
        print(f"round {round_}: {len(known)} known, loss {loss:.3f}, accuracy {accuracy:.3f}")
