"""The learning rate is a Python number, another one in each step."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
model = tf.keras.Sequential(
    [tf.keras.Input([4]), tf.keras.layers.Dense(8), tf.keras.layers.Dense(1)]
)
x, y = np.ones((64, 4), "f"), np.ones((64, 1), "f")
data = tf.data.Dataset.from_tensor_slices((x, y)).repeat(15).batch(16)


@tf.function
def train_step(features, labels, rate):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(features) - labels) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    for variable, gradient in zip(model.trainable_variables, gradients, strict=True):
        variable.assign_sub(rate * gradient)
    return loss


losses = []
for number, (features, labels) in enumerate(data):
    rate = 0.01 * 0.97**number
    losses.append(float(train_step(features, labels, rate)))
print(losses)
