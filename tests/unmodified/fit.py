"""`fit` with a callback that waits after each batch."""

import time

import numpy as np
from tensorflow import keras

# tbslow: import tbslow

keras.utils.set_random_seed(1)


class Logger(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if batch % 2:
            time.sleep(0.02)


model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16), keras.layers.Dense(1)])
model.compile("sgd", "mse")
x = np.random.default_rng(1).normal(size=(640, 8)).astype("float32")
callbacks = [Logger()]
# tbslow: callbacks = [Logger(), tbslow.keras.SlowdownCallback("logs")]
callbacks = [Logger()]
history = model.fit(x, x[:, :1], batch_size=8, epochs=2, verbose=0, callbacks=callbacks)
print(f"loss {history.history['loss'][-1]:.6f}")
