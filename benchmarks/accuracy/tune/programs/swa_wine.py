"""Wine quality from chemistry: the prediction uses the mean of all weights along the way."""

import numpy as np
import tensorflow as tf


def wines(n=48_000, seed=6):
    rng = np.random.default_rng(seed)
    chem = rng.normal(size=(n, 11))
    score = chem[:, 10] - np.abs(chem[:, 1]) + chem[:, 3] * chem[:, 8] + rng.normal(0, 0.3, n)
    return chem.astype("float32"), np.digitize(score, [-1.5, -0.5, 0.5, 1.5])


class StochasticWeightAveraging(tf.keras.callbacks.Callback):
    """Averages the weights of all batches; the mean is compared with the last ones."""

    def __init__(self, sample):
        super().__init__()
        self.sample = sample
        self.snapshots = []
        self.mean_weights = None

    def on_train_batch_end(self, batch, logs=None):
        self.snapshots.append(self.model.get_weights())
        self.mean_weights = [np.mean(stack, axis=0) for stack in zip(*self.snapshots)]

    def on_epoch_end(self, epoch, logs=None):
        last = self.model.get_weights()
        distance = sum(np.abs(a - b).mean() for a, b in zip(last, self.mean_weights))
        print(f"epoch {epoch}: mean and last weights differ by {distance:.4f}")

    def on_train_end(self, logs=None):
        self.model.set_weights(self.mean_weights)


x, y = wines()
model = tf.keras.Sequential(
    [
        tf.keras.Input((11,)),
        tf.keras.layers.Dense(96, activation="selu"),
        tf.keras.layers.Dense(96, activation="selu"),
        tf.keras.layers.Dense(64, activation="selu"),
        tf.keras.layers.Dense(5, activation="softmax"),
    ]
)
model.compile(
    optimizer=tf.keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
averaging = StochasticWeightAveraging(x[:100])
model.fit(x[:43_200], y[:43_200], batch_size=400, epochs=9, verbose=0, callbacks=[averaging])
print("held out:", model.evaluate(x[43_200:], y[43_200:], verbose=0))
