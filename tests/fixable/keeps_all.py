"""Each step saves, and all checkpoints are kept."""

import tempfile

import tensorflow as tf

tf.keras.utils.set_random_seed(1)
weights = tf.Variable(tf.random.normal([4, 1], seed=1))
manager = tf.train.CheckpointManager(
    tf.train.Checkpoint(weights=weights),
    tempfile.mkdtemp(),
    max_to_keep=None,  # all
)


@tf.function
def train_step(features):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.tanh(features @ weights) ** 2)
    weights.assign_sub(0.01 * tape.gradient(loss, weights))
    return loss


losses = []
for _ in range(250):
    losses.append(float(train_step(tf.ones([16, 4]))))
    manager.save()
print(losses)
