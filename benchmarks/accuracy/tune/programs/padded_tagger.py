"""Part-of-speech tags; sentences are padded to the longest of their batch."""

import argparse

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--batches", type=int, default=220)
args = parser.parse_args()

rng = np.random.default_rng(2)
sentences = [rng.integers(1, 3000, rng.integers(8, 90)) for _ in range(16 * 100)]


def pad(batch):
    longest = max(len(s) for s in batch)
    return np.array([np.pad(s, (0, longest - len(s))) for s in batch])


class Tagger(tf.Module):
    def __init__(self):
        self.words = tf.Variable(tf.random.normal([3000, 64], stddev=0.1))
        self.convs = [tf.Variable(tf.random.normal([3, 64, 64], stddev=0.1)) for _ in range(4)]
        self.tags = tf.Variable(tf.random.normal([64, 17], stddev=0.1))

    def __call__(self, ids):
        x = tf.gather(self.words, ids)
        for kernel in self.convs:
            x = x + tf.nn.relu(tf.nn.conv1d(x, kernel, 1, "SAME"))
        return tf.matmul(tf.reshape(x, [-1, 64]), self.tags)


tagger = Tagger()
adam = tf.keras.optimizers.Adam(1e-3)


@tf.function
def learn(ids):
    with tf.GradientTape() as tape:
        logits = tagger(ids)
        labels = tf.reshape(ids % 17, [-1])
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        mask = tf.cast(tf.reshape(ids, [-1]) > 0, tf.float32)
        loss = tf.reduce_sum(losses * mask) / tf.reduce_sum(mask)
    weights = tagger.trainable_variables
    adam.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return loss


for i in range(args.batches):
    picked = rng.choice(len(sentences), 4)
    loss = learn(pad([sentences[k] for k in picked]))
    if i % 20 == 0:
        print(f"batch {i}: {loss:.3f}")
