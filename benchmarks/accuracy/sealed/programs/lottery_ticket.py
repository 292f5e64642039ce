"""Lottery tickets on handwritten-like glyphs: train, prune the small weights, rewind, again."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(5)
KEPT = [1.0, 0.5, 0.25, 0.12]
EPOCHS = 4


class MaskedDense(tf.keras.layers.Layer):
    def __init__(self, units, activation=None):
        super().__init__()
        self.units, self.activation = units, tf.keras.activations.get(activation)

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], self.units), name="kernel")
        self.bias = self.add_weight(shape=(self.units,), initializer="zeros", name="bias")
        self.mask = self.add_weight(
            shape=(shape[-1], self.units), initializer="ones", trainable=False, name="mask"
        )

    def call(self, x):
        return self.activation(tf.matmul(x, self.kernel * self.mask) + self.bias)

    def prune(self, kept):
        size = np.abs(self.kernel.numpy()) * self.mask.numpy()
        self.mask.assign((size >= np.quantile(size, 1 - kept)).astype("float32"))


def glyphs(n):
    rng = np.random.default_rng(n)
    strokes = np.random.default_rng(0).random((10, 7, 2)) * 20 + 4
    y = rng.integers(0, 10, n)
    points = strokes[y] + rng.normal(0, 1.0, (n, 7, 2))
    grid = np.arange(28)
    x = np.zeros((n, 28, 28), "float32")
    for k in range(7):
        row = np.exp(-((grid - points[:, k, :1]) ** 2) / 3)
        column = np.exp(-((grid - points[:, k, 1:]) ** 2) / 3)
        x += (row[:, :, None] * column[:, None]).astype("float32")
    return x.reshape(n, -1) + rng.normal(0, 0.5, (n, 784)).astype("float32"), y


x, y = glyphs(16000)
x_test, y_test = glyphs(2001)

model = tf.keras.Sequential(
    [
        tf.keras.Input((784,)),
        MaskedDense(512, "relu"),
        MaskedDense(384, "relu"),
        MaskedDense(128, "relu"),
        MaskedDense(10, "softmax"),
    ]
)
model.compile(
    optimizer=tf.keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
first = [(layer.kernel.numpy(), layer.bias.numpy()) for layer in model.layers]

results = {}
for kept in KEPT:
    if kept < 1:
        for layer, (kernel, bias) in zip(model.layers[:-1], first):
            layer.prune(kept)
        for layer, (kernel, bias) in zip(model.layers, first):
            layer.kernel.assign(kernel)
            layer.bias.assign(bias)
    model.fit(x, y, batch_size=128, epochs=EPOCHS, verbose=2)
    results[kept] = model.evaluate(x_test, y_test, batch_size=500, verbose=0)[1]

for kept, accuracy in results.items():
    print(f"{kept:>5.0%} of the weights: {accuracy:.3f}")
