"""Each step makes its optimizer again."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
layers = [tf.keras.layers.Dense(64) for _ in range(20)]
model = tf.keras.Sequential([tf.keras.Input([64]), *layers, tf.keras.layers.Dense(1)])
x, y = np.ones((64, 64), "f"), np.ones((64, 1), "f")
data = tf.data.Dataset.from_tensor_slices((x, y)).repeat(20).batch(16)

losses = []
for features, labels in data:
    optimizer = tf.keras.optimizers.SGD(learning_rate=0.001)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(features) - labels) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    losses.append(float(loss))
print(losses)
