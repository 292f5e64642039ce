"""Speaking-style classification from pitch and loudness tracks of sermon sentences."""

import argparse

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

STYLES = ["narrative", "exhortation", "prayer", "quotation"]
FEATURES = 6
MAX_LEN = 224


def make_sentences(n, seed):
    rng = np.random.default_rng(seed)
    tracks, labels = [], []
    for _ in range(n):
        y = int(rng.integers(len(STYLES)))
        length = 8 * int(np.clip(rng.gamma(5.0, 2.5), 4, 27))
        t = np.linspace(0, 1, length)[:, None]
        base = np.sin(2 * np.pi * (1 + y) * t + rng.uniform(0, 6, (1, FEATURES)))
        slope = (y - 1.5) * t * 0.6
        tracks.append((base + slope + rng.normal(0, 0.8, (length, FEATURES))).astype("float32"))
        labels.append(y)
    return tracks, np.array(labels, "int32")


def collate(tracks):
    longest = max(len(t) for t in tracks)
    out = np.zeros((len(tracks), longest, FEATURES), "float32")
    mask = np.zeros((len(tracks), longest, 1), "float32")
    for i, t in enumerate(tracks):
        out[i, : len(t)] = t
        mask[i, : len(t)] = 1.0
    return out, mask


class ProsodyNet(keras.Model):
    def __init__(self, width=64, depth=3):
        super().__init__()
        self.inp = layers.Dense(width)
        self.convs = [
            layers.Conv1D(width, 5, padding="same", activation="relu") for _ in range(depth)
        ]
        self.norms = [layers.LayerNormalization() for _ in range(depth)]
        self.out = layers.Dense(len(STYLES))

    def call(self, x, mask):
        h = self.inp(x) * mask
        for conv, norm in zip(self.convs, self.norms):
            h = h + norm(conv(h)) * mask
        pooled = tf.reduce_sum(h, 1) / tf.reduce_sum(mask, 1)
        return self.out(pooled)


class Trainer:
    def __init__(self, lr):
        self.net = ProsodyNet()
        self.net(tf.zeros((1, 32, FEATURES)), tf.ones((1, 32, 1)))
        self.opt = keras.optimizers.Adam(lr)
        self.opt.build(self.net.trainable_variables)

    @tf.function(jit_compile=True)
    def step(self, x, mask, y):
        with tf.GradientTape() as tape:
            logits = self.net(x, mask)
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
            )
        grads = tape.gradient(loss, self.net.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.net.trainable_variables))
        hits = tf.cast(tf.equal(tf.argmax(logits, -1, output_type=tf.int32), y), tf.float32)
        return loss, tf.reduce_mean(hits)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch", type=int, default=32)
    args = parser.parse_args()
    keras.utils.set_random_seed(31)
    tracks, labels = make_sentences(1600, seed=2)
    trainer = Trainer(1e-3)
    order = np.random.default_rng(0)
    for epoch in range(args.epochs):
        perm = order.permutation(len(tracks))
        seen = []
        for lo in range(0, len(perm), args.batch):
            idx = perm[lo : lo + args.batch]
            x, mask = collate([tracks[i] for i in idx])
            loss, acc = trainer.step(x, mask, labels[idx])
            seen.append((float(loss), float(acc)))
        print("epoch", epoch, "loss %.3f acc %.3f" % tuple(np.mean(seen, 0)))


if __name__ == "__main__":
    main()
