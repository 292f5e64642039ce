"""Leaf diseases: every epoch one more layer of the backbone may learn."""

import numpy as np
from tensorflow import keras

keras.utils.set_random_seed(12)
SIDE = 40


def leaves(n):
    rng = np.random.default_rng(5)
    y = rng.integers(0, 6, n)
    x = rng.normal(0.4, 0.15, (n, SIDE, SIDE, 3)).astype("float32")
    for i, k in enumerate(y):
        spots = rng.integers(0, SIDE - 4, (3 + 2 * k, 2))
        for r, c in spots:
            x[i, r : r + 4, c : c + 4] -= 0.2
    return x, y


def backbone():
    model = keras.Sequential([keras.Input((SIDE, SIDE, 3))], name="backbone")
    for filters in (16, 16, 24, 24, 32, 32):
        stride = 2 if model.layers and filters != model.layers[-1].filters else 1
        model.add(keras.layers.Conv2D(filters, 3, stride, padding="same", activation="relu"))
    return model


class GradualThaw(keras.callbacks.Callback):
    """Opens the backbone from the top, one layer at each epoch."""

    def __init__(self, body):
        super().__init__()
        self.waiting = list(body.layers)
        for layer in self.waiting:
            layer.trainable = False

    def on_epoch_begin(self, epoch, logs=None):
        if epoch and self.waiting:
            self.waiting.pop().trainable = True
        self.model.make_train_function(force=True)


x, y = leaves(480)
body = backbone()
inputs = keras.Input((SIDE, SIDE, 3))
features = keras.layers.GlobalAveragePooling2D()(body(inputs))
features = keras.layers.Dropout(0.2)(features)
model = keras.Model(inputs, keras.layers.Dense(6, activation="softmax")(features))
optimizer = keras.optimizers.Adam(1e-3)
optimizer.build(model.trainable_variables)
model.compile(optimizer, "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(
    x,
    y,
    batch_size=24,
    epochs=28,
    callbacks=[GradualThaw(body)],
    verbose=2,
)
