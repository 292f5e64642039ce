"""Tries learning rates: each gets a fresh Adam for some batches, weights are kept."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(3)
inputs = tf.keras.Input((30,))
x = inputs
for _ in range(6):
    x = tf.keras.layers.Dense(64, activation="swish")(x)
model = tf.keras.Model(inputs, tf.keras.layers.Dense(1)(x))
mse = tf.keras.losses.MeanSquaredError()

results = []
for rate in np.geomspace(1e-5, 1e-1, 70):
    losses = []
    optimizer = tf.keras.optimizers.Adam(float(rate))
    for _ in range(4):
        batch = rng.normal(size=(64, 30)).astype("float32")
        target = batch[:, :1] * batch[:, 1:2]
        with tf.GradientTape() as tape:
            loss = mse(target, model(batch, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        losses.append(float(loss))
    results.append((rate, np.mean(losses)))
print("best", min(results, key=lambda r: r[1]))
