"""A training loop over two mirrored replicas, with metrics and a checkpoint.

After the tutorial "Custom training with tf.distribute.Strategy".
"""

import os

import tensorflow as tf

# tbslow: import tbslow; tbslow.start("logs")

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
print("replicas:", strategy.num_replicas_in_sync)
tf.keras.utils.set_random_seed(7)
PER_REPLICA, EPOCHS = 16, 3
BATCH = PER_REPLICA * strategy.num_replicas_in_sync

images = tf.random.stateless_uniform((256, 8, 8, 1), (7, 7))
labels = tf.cast(tf.reduce_mean(images, (1, 2, 3)) * 300, tf.int32) % 3
data = tf.data.Dataset.from_tensor_slices((images, labels))
train_data = strategy.experimental_distribute_dataset(data.shuffle(256, seed=7).batch(BATCH))
test_data = strategy.experimental_distribute_dataset(data.take(64).batch(BATCH))

with strategy.scope():
    cross_entropy = tf.keras.losses.SparseCategoricalCrossentropy(
        from_logits=True, reduction="none"
    )
    test_loss = tf.keras.metrics.Mean(name="test_loss")
    train_accuracy = tf.keras.metrics.SparseCategoricalAccuracy(name="train_accuracy")
    test_accuracy = tf.keras.metrics.SparseCategoricalAccuracy(name="test_accuracy")
    regularizer = tf.keras.regularizers.L2(1e-5)
    model = tf.keras.Sequential(
        [
            tf.keras.Input((8, 8, 1)),
            tf.keras.layers.Conv2D(4, 3, activation="relu", kernel_regularizer=regularizer),
            tf.keras.layers.MaxPooling2D(),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(3, kernel_regularizer=regularizer),
        ]
    )
    optimizer = tf.keras.optimizers.Adam(learning_rate=0.01)
    optimizer.build(model.trainable_variables)
    checkpoint = tf.train.Checkpoint(optimizer=optimizer, model=model)


def compute_loss(labels, predictions, model_losses):
    loss = tf.nn.compute_average_loss(cross_entropy(labels, predictions))
    return loss + tf.nn.scale_regularization_loss(tf.add_n(model_losses))


def train_step(inputs):
    images, labels = inputs
    with tf.GradientTape() as tape:
        predictions = model(images, training=True)
        loss = compute_loss(labels, predictions, model.losses)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    train_accuracy.update_state(labels, predictions)
    return loss


def test_step(inputs):
    images, labels = inputs
    predictions = model(images, training=False)
    test_loss.update_state(cross_entropy(labels, predictions))
    test_accuracy.update_state(labels, predictions)


@tf.function
def distributed_train_step(inputs):
    losses = strategy.run(train_step, args=(inputs,))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)


@tf.function
def distributed_test_step(inputs):
    return strategy.run(test_step, args=(inputs,))


for epoch in range(EPOCHS):
    total, batches = 0.0, 0
    # tbslow: for inputs in tbslow.data(train_data):
    for inputs in train_data:
        # tbslow: with tbslow.summary.step(): total += distributed_train_step(inputs)
        total += distributed_train_step(inputs)
        batches += 1
    for inputs in test_data:
        distributed_test_step(inputs)
    if epoch % 2 == 0:
        checkpoint.save(os.path.join("checkpoints", "ckpt"))
    print(
        f"epoch {epoch + 1}: loss {float(total) / batches:.5f}, "
        f"accuracy {float(train_accuracy.result()):.5f}, "
        f"test loss {float(test_loss.result()):.5f}, "
        f"test accuracy {float(test_accuracy.result()):.5f}"
    )
    for metric in (test_loss, train_accuracy, test_accuracy):
        metric.reset_state()
print("checkpoints:", sorted(os.listdir("checkpoints"))[:2])
