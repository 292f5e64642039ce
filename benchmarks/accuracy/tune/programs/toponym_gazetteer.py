"""Which region does a place name come from?

A small character CNN learns the region of a place from its spelling. The
names come from a gazetteer which is held in memory as records, since the
same records are used for drawing the maps afterwards.
"""

import argparse
import random
from dataclasses import dataclass, field

import numpy as np
import tensorflow as tf

LETTERS = "abcdefghijklmnopqrstuvwxyz"
REGIONS = ["fen", "moor", "coast", "vale", "border", "isle"]
MAX_LEN = 14


@dataclass
class Place:
    name: str
    region: int
    position: list = field(default_factory=list)
    aliases: list = field(default_factory=list)


def make_gazetteer(n, seed):
    """Names from one letter-bigram table per region."""
    rng = np.random.default_rng(seed)
    tables = rng.dirichlet(np.full(len(LETTERS), 0.25), size=(len(REGIONS), len(LETTERS)))
    cumul = tables.cumsum(-1)
    region = rng.integers(0, len(REGIONS), n)
    length = rng.integers(4, MAX_LEN + 1, n)
    letters = np.zeros((n, MAX_LEN), np.int32)
    letters[:, 0] = rng.integers(0, len(LETTERS), n)
    for i in range(1, MAX_LEN):
        u = rng.random(n)[:, None]
        rows = cumul[region, letters[:, i - 1]]
        letters[:, i] = np.minimum((rows < u).sum(-1), len(LETTERS) - 1)
    codes = letters + 97
    positions = rng.normal(size=(n, 2)).round(4).tolist()
    places = []
    for row, size, reg, pos in zip(
        codes.astype(np.uint8), length.tolist(), region.tolist(), positions
    ):
        name = row[:size].tobytes().decode("ascii")
        places.append(Place(name, reg, pos, [name[:3], name[-3:]]))
    return places


def encode(places):
    x = np.zeros((len(places), MAX_LEN), np.int32)
    y = np.zeros(len(places), np.int32)
    for i, place in enumerate(places):
        raw = np.frombuffer(place.name.encode("ascii"), np.uint8)
        x[i, : len(raw)] = raw - 96
        y[i] = place.region
    return x, y


def build_model(width):
    inp = tf.keras.Input((MAX_LEN,), dtype="int32")
    h = tf.keras.layers.Embedding(len(LETTERS) + 1, 24)(inp)
    for _ in range(2):
        h = tf.keras.layers.Conv1D(width, 3, padding="same", activation="relu")(h)
    h = tf.keras.layers.GlobalMaxPooling1D()(h)
    h = tf.keras.layers.Dropout(0.1)(h)
    return tf.keras.Model(inp, tf.keras.layers.Dense(len(REGIONS))(h))


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.optimizer = tf.keras.optimizers.Adam(lr)
        self.loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.best = 0.0

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            loss = self.loss_fn(y, self.model(x, training=True))
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
        return loss

    @tf.function
    def hits(self, x, y):
        guess = tf.argmax(self.model(x, training=False), -1, output_type=tf.int32)
        return tf.reduce_mean(tf.cast(guess == y, tf.float32))

    def spot_check(self, x, y):
        """Accuracy on a handful of names that are held back."""
        score = float(self.hits(x, y))
        self.best = max(self.best, score)
        tf.keras.backend.clear_session()
        return score


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--places", type=int, default=120_000)
    ap.add_argument("--steps", type=int, default=1120)
    ap.add_argument("--batch", type=int, default=96)
    ap.add_argument("--check-every", type=int, default=70)
    args = ap.parse_args()

    random.seed(5)
    tf.random.set_seed(5)
    places = make_gazetteer(args.places, seed=5)
    held, train = places[:256], places[256:]
    held_x, held_y = (tf.constant(a) for a in encode(held))
    trainer = Trainer(build_model(64), 1e-3)

    for step in range(1, args.steps + 1):
        x, y = encode(random.sample(train, args.batch))
        loss = trainer.step(tf.constant(x), tf.constant(y))
        if step % args.check_every == 0:
            score = trainer.spot_check(held_x, held_y)
            if step % 280 == 0:
                print(f"step {step:5d}  loss {float(loss):.3f}  held back {score:.3f}")

    print("best", round(trainer.best, 3), "of", len(places), "places")


if __name__ == "__main__":
    main()
