"""Keras 3 on JAX."""

import os

os.environ["KERAS_BACKEND"] = "jax"
import keras
import numpy as np

# tbslow: import tbslow; slowdown = [tbslow.keras.SlowdownCallback("logs")]
slowdown = []

keras.utils.set_random_seed(1)
x = np.random.default_rng(1).normal(size=(128, 8)).astype("float32")
y = x.sum(1, keepdims=True)
model = keras.Sequential(
    [keras.Input((8,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)]
)
model.compile("adam", "mse")
saver = keras.callbacks.ModelCheckpoint("best.keras")
history = model.fit(
    x, y, batch_size=16, epochs=3, verbose=2, validation_data=(x, y), callbacks=[saver, *slowdown]
)
print(keras.backend.backend(), history.history)
loaded = keras.models.load_model("best.keras")
print(loaded.evaluate(x, y, verbose=0), loaded.predict(x[:2], verbose=0).tolist())
