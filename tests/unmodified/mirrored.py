"""`MirroredStrategy` on two logical devices, from slow data."""

import time

import tensorflow as tf

# tbslow: import tbslow; tbslow.start("logs")

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
tf.keras.utils.set_random_seed(8)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD(0.01)
    optimizer.build(model.trainable_variables)


def replica_step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - tf.reduce_sum(x, 1, keepdims=True)) ** 2) / 2
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    return loss


@tf.function
def train_step(x):
    losses = strategy.run(replica_step, args=(x,))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)


def rows():
    for number in range(30):
        time.sleep(0.02)
        yield tf.fill((8, 4), number / 30)


data = tf.data.Dataset.from_generator(rows, output_signature=tf.TensorSpec((8, 4), tf.float32))
for epoch in range(3):
    # tbslow: for batch in tbslow.data(strategy.experimental_distribute_dataset(data)):
    for batch in strategy.experimental_distribute_dataset(data):
        # tbslow: with tbslow.summary.step(): loss = train_step(batch)
        loss = train_step(batch)
    print(f"epoch {epoch}: {float(loss):.5f}")
