"""Each step decorates its own function again."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
model = tf.keras.Sequential(
    [tf.keras.Input([4]), tf.keras.layers.Dense(8), tf.keras.layers.Dense(1)]
)
x, y = np.ones((64, 4), "f"), np.ones((64, 1), "f")
data = tf.data.Dataset.from_tensor_slices((x, y)).repeat(15).batch(16)

losses = []
for features, labels in data:
    # One update.
    @tf.function
    def train_step(features, labels):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(features) - labels) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        for variable, gradient in zip(model.trainable_variables, gradients, strict=True):
            variable.assign_sub(0.01 * gradient)
        return loss

    losses.append(float(train_step(features, labels)))
print(losses)
