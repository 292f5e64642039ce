"""Which bench shouted? Sorting the interjections of parliament minutes with a small conv net, own training loop."""

import argparse
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

tf.random.set_seed(2024)
np.random.seed(2024)

ap = argparse.ArgumentParser()
ap.add_argument("--vocab", type=int, default=4000)
ap.add_argument("--maxlen", type=int, default=40)
ap.add_argument("--batch", type=int, default=64)
ap.add_argument("--epochs", type=int, default=2)
ap.add_argument("--lr", type=float, default=2e-3)
FLAGS, _ = ap.parse_known_args()

BENCHES = ("government", "opposition", "cross", "gallery")


def minutes(n):
    y = np.random.randint(0, len(BENCHES), n)
    base = np.random.zipf(1.3, (n, FLAGS.maxlen)) % FLAGS.vocab
    slang = 50 + y[:, None] * 30 + np.random.randint(0, 30, (n, FLAGS.maxlen))
    ids = np.where(np.random.rand(n, FLAGS.maxlen) < 0.12, slang, base)
    lengths = np.random.randint(8, FLAGS.maxlen + 1, n)
    ids[np.arange(FLAGS.maxlen)[None] >= lengths[:, None]] = 0
    return ids.astype(np.int32), y.astype(np.int32)


def make_model():
    i = tf.keras.Input((FLAGS.maxlen,), dtype="int32")
    e = tf.keras.layers.Embedding(FLAGS.vocab, 48)(i)
    towers = []
    for k in (2, 3, 4):
        c = tf.keras.layers.Conv1D(48, k, activation="relu")(e)
        towers.append(tf.keras.layers.GlobalMaxPooling1D()(c))
    h = tf.keras.layers.Concatenate()(towers)
    h = tf.keras.layers.Dropout(0.3)(h)
    return tf.keras.Model(i, tf.keras.layers.Dense(len(BENCHES))(h))


class Trainer:
    def __init__(self, model):
        self.model = model
        self.opt = tf.keras.optimizers.Adam(FLAGS.lr)
        self.ce = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.losses = []
        self.hits = []

    @tf.function
    def train_step(self, ids, bench):
        with tf.GradientTape() as tape:
            logits = self.model(ids, training=True)
            loss = self.ce(bench, logits)
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.model.trainable_variables))
        hit = tf.cast(tf.equal(tf.argmax(logits, -1, tf.int32), bench), tf.float32)
        return loss, hit

    def running(self):
        mean_loss = tf.reduce_mean(tf.stack(self.losses))
        mean_acc = tf.reduce_mean(tf.concat(self.hits, axis=0))
        return mean_loss, mean_acc

    def epoch(self, number, data):
        t0 = time.time()
        for step, (ids, bench) in enumerate(data):
            loss, hit = self.train_step(ids, bench)
            self.losses.append(loss)
            self.hits.append(hit)
            mean_loss, mean_acc = self.running()
            if step % 100 == 0:
                print(
                    f"epoch {number} step {step:4d} avg loss {mean_loss.numpy():.4f} avg acc {mean_acc.numpy():.3f}"
                )
        print(f"epoch {number} took {time.time() - t0:.1f} s")


def main():
    ids, y = minutes(20000)
    vi, vy = minutes(2000)
    data = (
        tf.data.Dataset.from_tensor_slices((ids, y))
        .shuffle(8000, seed=3)
        .batch(FLAGS.batch, drop_remainder=True)
        .prefetch(4)
    )
    tr = Trainer(make_model())
    for e in range(1, FLAGS.epochs + 1):
        tr.epoch(e, data)
    pred = tr.model.predict(vi, batch_size=500, verbose=0).argmax(-1)
    print("held-out accuracy", (pred == vy).mean())


if __name__ == "__main__":
    main()
