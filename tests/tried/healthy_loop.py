"""A loop that computes, with a batch at hand for each step."""

import tensorflow as tf

tf.keras.utils.set_random_seed(3)
weight = tf.Variable(tf.random.normal((300, 300)))
data = tf.data.Dataset.from_tensor_slices(tf.random.normal((80, 32, 300))).prefetch(2)


@tf.function
def train_step(x):
    for _ in range(30):
        x = tf.nn.relu(x @ weight)
    weight.assign_sub(1e-9 * tf.matmul(x, x, transpose_a=True))


for batch in data:
    train_step(batch)
