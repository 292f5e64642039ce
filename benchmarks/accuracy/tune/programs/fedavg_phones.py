"""Federated averaging: every round, three of twelve phones train on what they typed themselves."""

import numpy as np
import tensorflow as tf

PHONES, ROUNDS, PER_ROUND = 12, 10, 3
FEATURES, KEYS = 40, 12
rng = np.random.default_rng(0)
truth = rng.normal(size=(FEATURES, KEYS))


def phone_data(k):
    x = rng.normal(loc=0.1 * k, size=(960, FEATURES)).astype("float32")
    return x, np.argmax(x @ truth + rng.normal(size=(960, KEYS)), axis=1)


def create_keras_model():
    return tf.keras.models.Sequential(
        [
            tf.keras.layers.Input(shape=(FEATURES,)),
            tf.keras.layers.Dense(64, activation="relu"),
            tf.keras.layers.Dense(64, activation="relu"),
            tf.keras.layers.Dense(KEYS, activation="softmax"),
        ]
    )


def scale(weights, factor):
    return [w * factor for w in weights]


def add(first, second):
    return [a + b for a, b in zip(first, second)]


phones = [phone_data(k) for k in range(PHONES)]
x_test, y_test = phone_data(5)
server = create_keras_model()
server.compile("sgd", "sparse_categorical_crossentropy", metrics=["accuracy"])

for rnd in range(ROUNDS):
    chosen = rng.choice(PHONES, PER_ROUND, replace=False)
    total = None
    for k in chosen:
        local = create_keras_model()
        local.compile(
            optimizer=tf.keras.optimizers.SGD(0.05, momentum=0.9),
            loss="sparse_categorical_crossentropy",
        )
        local.set_weights(server.get_weights())
        local.fit(*phones[k], batch_size=32, epochs=2, verbose=0)
        part = scale(local.get_weights(), 1 / PER_ROUND)
        total = part if total is None else add(total, part)
    server.set_weights(total)
    loss, accuracy = server.evaluate(x_test, y_test, verbose=0)
    print(f"round {rnd:2d}  phones {sorted(chosen.tolist())}  loss {loss:.3f}  acc {accuracy:.3f}")
