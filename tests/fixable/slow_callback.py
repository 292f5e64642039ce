"""A callback goes through all weights after each batch."""

import numpy as np
import tensorflow as tf


class Norms(tf.keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.norms = []

    def on_train_batch_end(self, batch, logs=None):
        # All of them.
        weights = self.model.get_weights()
        self.norms.append([float(np.linalg.norm(each)) for each in weights])


tf.keras.utils.set_random_seed(1)
dense = [tf.keras.layers.Dense(200) for _ in range(20)]
model = tf.keras.Sequential([tf.keras.Input([4]), *dense, tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
x, y = np.ones((1200, 4), "f"), np.ones((1200, 1), "f")
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(4)

history = model.fit(data, verbose=0, callbacks=[Norms()])
print(history.history["loss"])
