"""A loop of one's own whose learning rate is a Python number that decays."""

import tensorflow as tf

# tbslow: import tbslow; tbslow.start("logs")

tf.keras.utils.set_random_seed(3)
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(8, activation="relu")])
mean = tf.keras.metrics.Mean()
data = tf.data.Dataset.from_tensor_slices(tf.random.normal((320, 4))).batch(8)


@tf.function
def train_step(x, rate):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - tf.reduce_sum(x, axis=1, keepdims=True)) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    for variable, gradient in zip(model.trainable_variables, gradients, strict=True):
        variable.assign_sub(rate * gradient)
    mean.update_state(loss)
    return loss


@tf.function
def test_step(x):
    mean.update_state(tf.reduce_mean(model(x)))


rate = 0.01
for epoch in range(4):
    # tbslow: for number, batch in enumerate(tbslow.data(data)):
    for number, batch in enumerate(data):
        if number % 4 == 0:
            rate *= 0.99
        # tbslow: with tbslow.summary.step(): loss = train_step(batch, rate)
        loss = train_step(batch, rate)
    for batch in data.take(5):
        test_step(batch)
    print(f"epoch {epoch}: {float(loss):.6f} {float(mean.result()):.6f}")
