"""Active learning of insurance claim triage: the pool is scored, the least
certain claims go to the (simulated) clerks, the model learns from them."""

import os
import sqlite3
import tempfile
import time

import numpy as np
import tensorflow as tf

FEATURES, CLASSES = 60, 5
rng = np.random.default_rng(21)
tf.random.set_seed(21)


def make_pool(n):
    centres = rng.normal(0, 1.0, (CLASSES, FEATURES))
    truth = rng.integers(0, CLASSES, n)
    x = centres[truth] * 0.4 + rng.normal(0, 1, (n, FEATURES))
    return x.astype("float32"), truth.astype("int32")


class Ledger:
    """What the clerks were asked and what the model thought, for the audit."""

    def __init__(self, path):
        self.db = sqlite3.connect(path)
        self.db.execute(
            "create table asked (step int, claim int, margin real, guess int, label int)"
        )
        self.db.execute("create index by_claim on asked (claim)")
        self.db.commit()

    def note(self, step, claim, margin, guess, label):
        with self.db:
            self.db.execute(
                "insert into asked values (?, ?, ?, ?, ?)",
                (step, int(claim), float(margin), int(guess), int(label)),
            )

    def count(self):
        return self.db.execute("select count(*) from asked").fetchone()[0]


class TriageNet(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.stack = [tf.keras.layers.Dense(512, activation="gelu") for _ in range(3)]
        self.out = tf.keras.layers.Dense(CLASSES)

    def call(self, x):
        for layer in self.stack:
            x = layer(x)
        return self.out(x)


class ActiveLearner:
    def __init__(self, x, truth, ledger, ask=32):
        self.x, self.truth, self.ledger, self.ask = x, truth, ledger, ask
        self.model = TriageNet()
        self.opt = tf.keras.optimizers.AdamW(5e-4)
        self.labelled = list(rng.integers(0, len(x), 256))

    @tf.function
    def score(self, x):
        p = tf.nn.softmax(self.model(x))
        top = tf.math.top_k(p, 2)
        return top.values[:, 0] - top.values[:, 1], top.indices[:, 0]

    @tf.function
    def fit_batch(self, x, y):
        with tf.GradientTape() as tape:
            logits = self.model(x, training=True)
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
            )
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.model.trainable_variables))
        return loss

    def query(self, step):
        candidates = rng.integers(0, len(self.x), 2048)
        margin, guess = (t.numpy() for t in self.score(tf.constant(self.x[candidates])))
        for k in np.argsort(margin)[: self.ask]:
            claim = candidates[k]
            self.ledger.note(step, claim, margin[k], guess[k], self.truth[claim])
            self.labelled.append(claim)

    def learn(self):
        take = rng.choice(len(self.labelled), 512)
        rows = np.asarray(self.labelled)[take]
        return self.fit_batch(tf.constant(self.x[rows]), tf.constant(self.truth[rows]))


def main(steps=240):
    x, truth = make_pool(30_000)
    with tempfile.TemporaryDirectory(dir=os.path.dirname(os.path.abspath(__file__))) as tmp:
        learner = ActiveLearner(x, truth, Ledger(os.path.join(tmp, "ledger.db")))
        t0 = time.time()
        for step in range(steps):
            learner.query(step)
            loss = learner.learn()
            if step % 40 == 0:
                print(f"{step:4d} loss {float(loss):.4f} labelled {len(learner.labelled)}")
        print("train wall", round(time.time() - t0, 2), "asked", learner.ledger.count())
        learner.ledger.db.close()


if __name__ == "__main__":
    main()
