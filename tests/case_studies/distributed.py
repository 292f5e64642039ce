"""Trains an image classifier with a custom loop under `tf.distribute`, an epoch at a time."""

import argparse

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=20)
arguments = parser.parse_args()

strategy = tf.distribute.MirroredStrategy(["CPU:0"])
BATCH = 64 * strategy.num_replicas_in_sync
tf.keras.utils.set_random_seed(5)
random = np.random.default_rng(5)


def images(count):
    labels = random.integers(0, 10, count)
    pixels = random.random((count, 28, 28, 1), "float32") + labels[:, None, None, None] / 10.0
    return tf.data.Dataset.from_tensor_slices((pixels.astype("float32"), labels))


train = images(2000).shuffle(2000).batch(BATCH)
test = images(500).batch(BATCH)
train_batches = strategy.experimental_distribute_dataset(train)
test_batches = strategy.experimental_distribute_dataset(test)

with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Conv2D(16, 3, activation="relu"),
            tf.keras.layers.MaxPooling2D(),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(32, activation="relu"),
            tf.keras.layers.Dense(10),
        ]
    )
    model.build((None, 28, 28, 1))
    optimizer = tf.keras.optimizers.Adam()
    optimizer.build(model.trainable_variables)
    each_loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")
    accuracy = tf.keras.metrics.SparseCategoricalAccuracy()


def train_replica(x, y):
    with tf.GradientTape() as tape:
        loss = tf.nn.compute_average_loss(each_loss(y, model(x)), global_batch_size=BATCH)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


@tf.function
def train_step(inputs):
    losses = strategy.run(train_replica, args=inputs)
    return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)


@tf.function
def test_step(inputs):
    strategy.run(lambda x, y: accuracy.update_state(y, model(x)), args=inputs)


for epoch in range(arguments.epochs):
    total = 0.0
    for batch in train_batches:
        total += train_step(batch)
    for batch in test_batches:
        test_step(batch)
    print(f"epoch {epoch}: loss {total:.4f}, accuracy {accuracy.result():.3f}")
    accuracy.reset_state()
