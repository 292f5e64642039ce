"""Every second batch is followed by a checkpoint."""

import os
import tempfile

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
model = tf.keras.Sequential(
    [tf.keras.Input([4]), tf.keras.layers.Dense(8), tf.keras.layers.Dense(1)]
)
model.compile("sgd", "mse")
x, y = np.ones((6400, 4), "f"), np.ones((6400, 1), "f")
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(16)

path = os.path.join(tempfile.mkdtemp(), "model.keras")
saver = tf.keras.callbacks.ModelCheckpoint(path, save_freq=2, verbose=0)
history = model.fit(data, epochs=1, verbose=0, callbacks=[saver])
print(history.history["loss"])
