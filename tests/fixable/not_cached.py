"""Each epoch prepares the same examples again."""

import numpy as np
import tensorflow as tf

tf.config.threading.set_intra_op_parallelism_threads(1)


def prepare(number):
    large = tf.fill([300, 300], number / 1e4)
    return tf.linalg.matmul(large, large @ large)[:4]


def make_data():
    data = tf.data.Dataset.from_tensor_slices(np.arange(32, dtype="f"))
    data = data.map(prepare, num_parallel_calls=2)
    return data.shuffle(32, seed=1).batch(4).prefetch(2)


@tf.function
def train_step(batch):
    total.assign_add(tf.reduce_mean(batch))
    return total.read_value()


total = tf.Variable(0.0)
data = make_data()
for _ in range(15):
    for batch in data:
        loss = train_step(batch)
print(round(float(loss), 2))
