"""An agent asks its model for each action."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
model = tf.keras.Sequential(
    [tf.keras.Input([4]), tf.keras.layers.Dense(8), tf.keras.layers.Dense(2)]
)
model.compile("sgd", "mse")
state = np.ones((1, 4), "f")

values = []
for _ in range(60):
    value = model.predict(state, verbose=0)
    loss = model.train_on_batch(state, 0.9 * value)
    values.append(float(value.max()))
print(values)
