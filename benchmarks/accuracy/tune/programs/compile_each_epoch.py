"""House prices: the learning rate is halved by compiling again."""

import numpy as np
from tensorflow import keras

np.random.seed(1)
X = np.random.normal(size=(2500, 20)).astype("float32")
y = X @ np.random.normal(size=(20, 1)) + 0.1 * np.random.normal(size=(2500, 1))

model = keras.Sequential([keras.Input((20,))])
for units in (96, 96, 64, 32):
    model.add(keras.layers.Dense(units, activation="relu"))
    model.add(keras.layers.BatchNormalization())
    model.add(keras.layers.Dropout(0.1))
model.add(keras.layers.Dense(1))

lr, best = 1e-2, np.inf
for epoch in range(14):
    model.compile(loss="mse", optimizer=keras.optimizers.Adam(lr), metrics=["mae"])
    history = model.fit(X, y, batch_size=50, epochs=1, verbose=0)
    loss = history.history["loss"][0]
    print("epoch", epoch, "lr", lr, "loss", round(loss, 4))
    if loss > 0.99 * best:
        lr *= 0.5
    best = min(best, loss)
