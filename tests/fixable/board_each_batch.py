"""TensorBoard gets histograms of all weights after each epoch, and scalars after each batch."""

import tempfile

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
dense = [tf.keras.layers.Dense(200) for _ in range(10)]
model = tf.keras.Sequential([tf.keras.Input([4]), *dense, tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
x, y = np.ones((64, 4), "f"), np.ones((64, 1), "f")
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(16)

board = tf.keras.callbacks.TensorBoard(tempfile.mkdtemp(), histogram_freq=1, update_freq="batch")
history = model.fit(data, epochs=30, verbose=0, callbacks=[board])
print(history.history["loss"])
