"""`fit` on a generator of Python that is slower than the model."""

import time

import numpy as np
from tensorflow import keras

# tbslow: import tbslow

keras.utils.set_random_seed(10)
rng = np.random.default_rng(10)


def batches():
    while True:
        time.sleep(0.02)
        x = rng.normal(size=(8, 4)).astype("float32")
        yield x, x[:, :1]


model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile("sgd", "mse")
callbacks = []
# tbslow: callbacks = [tbslow.keras.SlowdownCallback("logs")]
callbacks = []
model.fit(batches(), steps_per_epoch=60, epochs=2, verbose=0, callbacks=callbacks)
print("weights", [weight.shape for weight in model.get_weights()])
