"""Digits with dense layers; a callback watches the health of every layer."""

import numpy as np
import tensorflow as tf

import tbslow


class LayerHealth(tf.keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.rows = []

    def on_train_batch_end(self, batch, logs=None):
        row = {}
        for layer in self.model.layers:
            for w in layer.get_weights():
                low, mid, high = np.percentile(w, [5, 50, 95])
                row[layer.name + str(w.shape)] = (low, mid, high, float(np.mean(np.abs(w) < 1e-3)))
        self.rows.append(row)


x = np.random.rand(6400, 196).astype(np.float32)
y = np.random.randint(0, 10, 6400)
inputs = tf.keras.Input((196,))
h = inputs
for _ in range(3):
    h = tf.keras.layers.Dense(400, activation="gelu")(h)
model = tf.keras.Model(inputs, tf.keras.layers.Dense(10)(h))
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
health = LayerHealth()
model.fit(
    x,
    y,
    batch_size=32,
    epochs=3,
    callbacks=[health, tbslow.keras.SlowdownCallback("logs")],
    verbose=2,
)
print(len(health.rows), "rows")
