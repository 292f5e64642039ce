"""`train_on_batch` of a model that is compiled again and again."""

import numpy as np
from tensorflow import keras

# tbslow: import tbslow; tbslow.start("logs")

keras.utils.set_random_seed(2)
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile("sgd", "mse")
rng = np.random.default_rng(2)
for number in range(120):
    if number % 10 == 0:
        model.compile("sgd", "mse")
    x = rng.normal(size=(8, 4)).astype("float32")
    # tbslow: with tbslow.summary.step(): loss = model.train_on_batch(x, x[:, :1])
    loss = model.train_on_batch(x, x[:, :1])
print(f"loss {float(np.ravel(loss)[0]):.6f}")
