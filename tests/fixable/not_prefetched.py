"""Each step waits for a batch that could have been made during the one before."""

import numpy as np
import tensorflow as tf

tf.config.threading.set_intra_op_parallelism_threads(1)
weights = tf.Variable(tf.eye(300))


def prepare(number):
    large = tf.fill([300, 300], number / 1e4)
    return tf.linalg.matmul(large, large @ large)[:4]


@tf.function
def train_step(batch):
    changed = weights
    for _ in range(3):
        changed = tf.tanh(tf.linalg.matmul(changed, weights))
    weights.assign(changed)
    return tf.reduce_mean(batch) + tf.reduce_mean(changed)


data = (
    tf.data.Dataset.from_tensor_slices(np.arange(600, dtype="f"))
    .map(prepare)  # slow
    .batch(4)
)
losses = []
for batch in data:
    loss = train_step(batch)
    losses.append(round(float(loss), 3))
print(losses)
