"""Recommend records: in-batch softmax, ranked against the whole shop."""

import os
import tempfile

import numpy as np
import tensorflow as tf
import keras

from model import Towers
from sales import CUSTOMERS, RECORDS, Sales

BATCH = 384
STEPS = 3600
RANK_EVERY = 200


def main():
    keras.utils.set_random_seed(21)
    strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
    sales = Sales(seed=21)
    who, what = sales.pairs()
    data = (
        tf.data.Dataset.from_tensor_slices((who, what))
        .shuffle(60000, seed=2)
        .repeat()
        .batch(BATCH, drop_remainder=True)
        .prefetch(4)
    )
    data = strategy.experimental_distribute_dataset(data)
    with strategy.scope():
        model = Towers()
        model((who[:2], what[:2]))
        optimizer = keras.optimizers.Adam(2e-3)
        optimizer.build(model.trainable_variables)
    saver = tf.train.Checkpoint(model=model)

    def replica_step(batch):
        a, b = batch
        with tf.GradientTape() as tape:
            scores = model((a, b))
            labels = tf.range(tf.shape(scores)[0])
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=scores)
            )
        optimizer.apply_gradients(
            zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        )
        return loss

    @tf.function
    def step(batch):
        loss = strategy.run(replica_step, args=(batch,))
        return strategy.reduce(tf.distribute.ReduceOp.MEAN, loss, axis=None)

    @tf.function(reduce_retracing=True)
    def ranks(a, b, shelf, seen):
        scores = tf.matmul(model.customers(a), shelf, transpose_b=True)
        own = tf.gather(scores, b, batch_dims=1)
        rows = tf.repeat(tf.range(tf.shape(a)[0])[:, None], tf.shape(seen)[1], axis=1)
        scores = tf.tensor_scatter_nd_update(
            scores, tf.stack([rows, seen], -1), tf.fill(tf.shape(seen), -9.0)
        )
        return tf.reduce_sum(tf.cast(scores > own[:, None], tf.int32), axis=1)

    def evaluate():
        shelf = model.records(tf.range(RECORDS))
        found = []
        for i in range(0, CUSTOMERS, 500):
            ids = np.arange(i, i + 500, dtype=np.int32)
            found.append(
                ranks(tf.constant(ids), sales.last[ids], shelf, sales.history[ids]).numpy()
            )
        found = np.concatenate(found)
        return np.mean(found < 100), np.mean(np.where(found < 100, 1 / np.log2(found + 2.0), 0))

    with tempfile.TemporaryDirectory() as folder:
        losses = []
        stream = iter(data)
        for i in range(1, STEPS + 1):
            losses.append(float(step(next(stream))))
            if i % RANK_EVERY == 0:
                hit, gain = evaluate()
                print(
                    f"step {i}: loss {np.mean(losses[-RANK_EVERY:]):.3f} hit@100 {hit:.3f} gain {gain:.4f}",
                    flush=True,
                )
                saver.write(os.path.join(folder, f"towers-{i}"))


if __name__ == "__main__":
    main()
