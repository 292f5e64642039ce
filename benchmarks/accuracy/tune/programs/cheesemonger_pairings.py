"""Two-tower recommender: which chutney goes with which cheese (weekly counter receipts)."""

import json
import os
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(77)

N_CHEESE, N_CHUTNEY, DIM = 900, 400, 48
WEEKS, RECEIPTS, BATCH = 24, 1600, 64


def counter_receipts(week):
    rng = np.random.default_rng(1000 + week)
    cheese = rng.zipf(1.4, size=RECEIPTS) % N_CHEESE
    liked = (cheese * 7 + rng.integers(0, 9, size=RECEIPTS)) % N_CHUTNEY
    price = rng.gamma(2.0, 3.0, size=RECEIPTS).astype("float32")
    return cheese.astype("int32"), liked.astype("int32"), price


class Tower(keras.layers.Layer):
    def __init__(self, vocab, dim, **kw):
        super().__init__(**kw)
        self.table = keras.layers.Embedding(vocab, dim)
        self.mix = keras.layers.Dense(dim, activation="tanh")
        self.out = keras.layers.Dense(dim)

    def call(self, ids):
        return self.out(self.mix(self.table(ids)))


class Pairing(keras.Model):
    def __init__(self):
        super().__init__()
        self.cheese = Tower(N_CHEESE, DIM, name="cheese")
        self.chutney = Tower(N_CHUTNEY, DIM, name="chutney")

    def call(self, inputs):
        a, b = inputs
        return tf.matmul(self.cheese(a), self.chutney(b), transpose_b=True)


def make_update(model, optimizer):
    loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    variables = model.trainable_variables

    @tf.function
    def update(cheese, chutney, price):
        with tf.GradientTape() as tape:
            scores = model((cheese, chutney))
            labels = tf.range(tf.shape(cheese)[0])
            loss = loss_fn(labels, scores, sample_weight=tf.sqrt(price))
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    return update


class Ledger:
    """One JSON line per update, for the shop's dashboard."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "ledger.json")
        self.rows = []

    def add(self, **row):
        self.rows.append(row)
        self.flush()

    def flush(self):
        with open(self.path, "w") as fh:
            json.dump(self.rows, fh, indent=1)


def recall_at(model, week, k=20):
    cheese, liked, _ = counter_receipts(week)
    scores = model((tf.constant(cheese[:400]), tf.range(N_CHUTNEY)))
    top = tf.math.top_k(scores, k).indices.numpy()
    return float(np.mean([b in row for b, row in zip(liked[:400], top)]))


def main():
    folder = tempfile.mkdtemp(prefix="counter_")
    ledger = Ledger(folder)
    model = Pairing()
    model((tf.zeros(1, tf.int32), tf.zeros(1, tf.int32)))
    schedule = keras.optimizers.schedules.CosineDecay(3e-3, WEEKS * RECEIPTS // BATCH)
    optimizer = keras.optimizers.Adam(schedule)
    t0 = time.time()
    for week in range(WEEKS):
        cheese, liked, price = counter_receipts(week)
        data = tf.data.Dataset.from_tensor_slices((cheese, liked, price))
        data = data.shuffle(RECEIPTS, seed=week).batch(BATCH, drop_remainder=True).prefetch(2)
        update = make_update(model, optimizer)
        for n, (a, b, p) in enumerate(data):
            loss = float(update(a, b, p))
            ledger.add(
                week=week,
                n=n,
                loss=round(loss, 5),
                lr=float(optimizer.learning_rate),
                batch_price=round(float(tf.reduce_sum(p)), 2),
            )
        print(f"week {week:2d}  loss {loss:.4f}  recall@20 {recall_at(model, 500):.3f}")
    ledger.flush()
    print(f"{len(ledger.rows)} updates; training took {time.time() - t0:.2f} s")


if __name__ == "__main__":
    main()
