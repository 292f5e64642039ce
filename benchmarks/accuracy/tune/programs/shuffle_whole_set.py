"""Sensor windows: the buffer holds the whole set, and is filled before each epoch."""

import tensorflow as tf

WINDOWS, EPOCHS = 3000, 10


def window(i):
    # stands for reading a record from a slow place
    t = tf.cast(i, tf.float32) + tf.range(2000, dtype=tf.float32)
    x = tf.sin(t / 7) + tf.cos(t / 13) + tf.math.erf(tf.sin(t / 50))
    x = tf.sort(x + tf.random.normal([2000], stddev=0.1))
    return x[::40], tf.cast(i % 3, tf.int32)


train = tf.data.Dataset.range(WINDOWS).map(window).shuffle(WINDOWS).batch(100).prefetch(2)

net = tf.keras.Sequential(
    [
        tf.keras.layers.Input((50,)),
        tf.keras.layers.Dense(64, activation="tanh"),
        tf.keras.layers.Dense(3),
    ]
)
optimizer = tf.keras.optimizers.Nadam(1e-3)
objective = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
mean = tf.keras.metrics.Mean()


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = objective(y, net(x, training=True))
    grads = tape.gradient(loss, net.trainable_weights)
    optimizer.apply_gradients(zip(grads, net.trainable_weights))
    mean.update_state(loss)


for epoch in range(EPOCHS):
    mean.reset_state()
    for x, y in train:
        step(x, y)
    print(f"epoch {epoch + 1}/{EPOCHS} loss {mean.result():.4f}")
