"""Federated averaging across pharmacies that must not share their dispensing records."""

import numpy as np
import tensorflow as tf

PHARMACIES = 6
ROUNDS = 8
COLUMNS = 48
CLASSES = 5


def make_sites(seed=7):
    rng = np.random.default_rng(seed)
    mix = rng.normal(size=(COLUMNS, 24)) / 6
    out = rng.normal(size=(24, CLASSES))
    sites = []
    for _ in range(PHARMACIES):
        rows = int(rng.integers(5000, 8000))
        shift = rng.normal(0, 0.4, COLUMNS)
        x = rng.normal(size=(rows, COLUMNS)) + shift
        y = np.argmax(np.tanh(x @ mix) @ out + rng.gumbel(size=(rows, CLASSES)) * 0.4, 1)
        sites.append((x.astype(np.float32), y.astype(np.int32)))
    x = rng.normal(size=(4000, COLUMNS))
    y = np.argmax(np.tanh(x @ mix) @ out, 1)
    return sites, (x.astype(np.float32), y.astype(np.int32))


def build():
    inp = tf.keras.Input((COLUMNS,))
    h = tf.keras.layers.Dense(128)(inp)
    for _ in range(4):
        r = tf.keras.layers.LayerNormalization()(h)
        r = tf.keras.layers.Dense(128, activation="gelu")(r)
        r = tf.keras.layers.Dropout(0.1)(r)
        r = tf.keras.layers.Dense(128)(r)
        h = tf.keras.layers.Add()([h, r])
    h = tf.keras.layers.LayerNormalization()(h)
    return tf.keras.Model(inp, tf.keras.layers.Dense(CLASSES)(h))


class Site:
    def __init__(self, index, data):
        self.index = index
        self.x, self.y = data

    def __len__(self):
        return len(self.x)

    def local_update(self, worker, global_weights, lr):
        worker.set_weights(global_weights)
        prepare(worker, lr)
        seen = worker.fit(self.x, self.y, batch_size=64, epochs=1, verbose=0)
        return worker.get_weights(), seen.history["loss"][-1]


def prepare(worker, lr):
    worker.compile(
        optimizer=tf.keras.optimizers.SGD(lr),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )


def average(updates, sizes):
    total = float(sum(sizes))
    return [sum(w * (n / total) for w, n in zip(layer, sizes)) for layer in zip(*updates)]


@tf.function
def accuracy_of(model, x, y):
    guess = tf.argmax(model(x, training=False), 1, output_type=tf.int32)
    return tf.reduce_mean(tf.cast(guess == y, tf.float32))


def main():
    tf.keras.utils.set_random_seed(0)
    data, (test_x, test_y) = make_sites()
    test_x, test_y = tf.constant(test_x), tf.constant(test_y)
    sites = [Site(i, d) for i, d in enumerate(data)]
    server, worker = build(), build()
    lr = 0.05
    weights = server.get_weights()
    for rnd in range(ROUNDS):
        updates, losses = [], []
        for site in sites:
            new, loss = site.local_update(worker, weights, lr)
            updates.append(new)
            losses.append(loss)
        weights = average(updates, [len(s) for s in sites])
        server.set_weights(weights)
        acc = float(accuracy_of(server, test_x, test_y))
        print(f"round {rnd}: mean local loss {np.mean(losses):.3f} server acc {acc:.3f}")


if __name__ == "__main__":
    main()
