"""Captions of little scenes, decoded with scheduled sampling (after Bengio et al., 2015)."""

import argparse

import numpy as np
import tensorflow as tf

VOCAB, LENGTH, REGIONS, WIDTH = 300, 8, 36, 96
layers = tf.keras.layers


def scenes(count, seed):
    rng = np.random.default_rng(seed)
    table = np.random.default_rng(1).normal(size=(VOCAB, 64))
    things = rng.integers(1, VOCAB, (count, LENGTH))
    seen = np.take_along_axis(things, rng.integers(0, LENGTH, (count, REGIONS)), axis=1)
    regions = table[seen] + rng.normal(0, 0.3, (count, REGIONS, 64))
    return regions.astype("float32"), np.sort(things, axis=1).astype("int32")


class Captioner:
    """Attends to the regions, and says one word after the other."""

    def __init__(self):
        self.project = layers.Dense(WIDTH)
        self.words = layers.Embedding(VOCAB, WIDTH)
        self.query = layers.Dense(WIDTH)
        self.cell = layers.GRUCell(2 * WIDTH)
        self.out = layers.Dense(VOCAB)

    @property
    def weights(self):
        parts = (self.project, self.words, self.query, self.cell, self.out)
        return [w for part in parts for w in part.trainable_variables]

    def attend(self, memory, state):
        score = tf.reduce_sum(tf.tanh(memory + self.query(state)[:, None]), -1)
        return tf.reduce_sum(tf.nn.softmax(score)[..., None] * memory, 1)

    def decode(self, regions, captions, truth_rate):
        count = tf.shape(regions)[0]
        memory = self.project(regions)
        state, token = tf.zeros([count, 2 * WIDTH]), tf.zeros([count], tf.int32)
        logits = []
        for t in range(LENGTH):
            x = tf.concat([self.words(token), self.attend(memory, state)], -1)
            state, _ = self.cell(x, state)
            logits.append(self.out(state))
            own = tf.argmax(logits[-1], -1, output_type=tf.int32)
            is_truth = tf.random.uniform([count]) < truth_rate
            token = tf.where(is_truth, captions[:, t], own)
        return tf.stack(logits, 1)


captioner = Captioner()
optimizer = tf.keras.optimizers.Adam(2e-3)


@tf.function
def train_step(regions, captions, truth_rate):
    with tf.GradientTape() as tape:
        logits = captioner.decode(regions, captions, truth_rate)
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=captions, logits=logits)
        )
    grads = tape.gradient(loss, captioner.weights)
    grads, _ = tf.clip_by_global_norm(grads, 5.0)
    optimizer.apply_gradients(zip(grads, captioner.weights))
    return loss


def truth_rate(step, warm, span, floor):
    """1 in the beginning, then it falls in a line."""
    return round(max(floor, 1.0 - max(0, step - warm) / span), 2)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--floor", type=float, default=0.84)
    args = parser.parse_args()
    regions, captions = scenes(4096, seed=5)
    rng = np.random.default_rng(0)
    for step in range(args.steps):
        rows = rng.integers(0, len(regions), args.batch)
        rate = truth_rate(step, args.steps // 4, args.steps, args.floor)
        loss = train_step(tf.constant(regions[rows]), tf.constant(captions[rows]), rate)
        if step % 50 == 0:
            print(f"step {step}: loss {loss:.3f}, truth {rate:.2f}")


if __name__ == "__main__":
    main()
