"""Train a tagger that marks amounts, units, tools and actions in recipes."""

import numpy as np
import tensorflow as tf

from corpus import Corpus, batches
from tagger import Adam, Tagger

BATCH = 96
STEPS = 700

tagger = Tagger()
adam = Adam(tagger.trainable_variables, 2e-3)


@tf.function(
    jit_compile=True,
    input_signature=[
        tf.TensorSpec([None, None], tf.int32),
        tf.TensorSpec([None, None], tf.int32),
    ],
)
def train_step(words, tags):
    with tf.GradientTape() as tape:
        logits, real = tagger(words)
        each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tags, logits=logits)
        loss = tf.reduce_sum(each * real) / tf.reduce_sum(real)
    grads = tape.gradient(loss, adam.v)
    adam.apply(grads)
    hit = tf.cast(tf.equal(tf.argmax(logits, -1, output_type=tf.int32), tags), tf.float32)
    return loss, tf.reduce_sum(hit * real) / tf.reduce_sum(real)


def main():
    rng = np.random.default_rng(11)
    corpus = Corpus(6400, seed=5)
    feed = batches(corpus, BATCH, rng)
    losses, hits = [], []
    for step in range(1, STEPS + 1):
        words, tags = next(feed)
        loss, hit = train_step(tf.constant(words), tf.constant(tags))
        losses.append(float(loss))
        hits.append(float(hit))
        if step % 50 == 0:
            print(
                f"step {step}: loss {np.mean(losses[-50:]):.4f} right {np.mean(hits[-50:]):.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
