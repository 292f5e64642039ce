"""Gas mixture identification from a sensor array; the network is sparsified by magnitude
after a dense phase so that it fits the microcontroller."""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"

import numpy as np
import tensorflow as tf
from tensorflow import keras

N_TRAIN, N_VAL = 14000, 2000
N_INPUT, N_CLASSES = 512, 12
HIDDEN = (1024, 1024)
BATCH = 128
DENSE_EPOCHS = 2
EPOCHS = 11
FINAL_SPARSITY = 0.85


def make_data(seed=3):
    rng = np.random.default_rng(seed)
    n = N_TRAIN + N_VAL
    y = rng.integers(0, N_CLASSES, n)
    response = rng.normal(0, 1, (N_CLASSES, 16))
    mixing = rng.normal(0, 1 / 4, (16, N_INPUT))
    latent = response[y] + rng.normal(0, 1.1, (n, 16))
    x = np.tanh(latent @ mixing) + rng.normal(0, 0.3, (n, N_INPUT))
    drift = np.linspace(-0.2, 0.2, N_INPUT) * rng.normal(0, 1, (n, 1))
    x = (x + drift).astype("float32")
    y = y.astype("int32")
    return (x[:N_TRAIN], y[:N_TRAIN]), (x[N_TRAIN:], y[N_TRAIN:])


class MagnitudePruning(keras.callbacks.Callback):
    """Keeps the largest weights of every hidden kernel; the kept share follows a cubic ramp
    over the epochs, weights once removed stay removed."""

    def __init__(self, begin_epoch, end_epoch, final_sparsity):
        super().__init__()
        self.begin_epoch = begin_epoch
        self.end_epoch = end_epoch
        self.final_sparsity = final_sparsity
        self.sparsity = 0.0

    def on_train_begin(self, logs=None):
        self.kernels = [
            layer.kernel
            for layer in self.model.layers
            if isinstance(layer, keras.layers.Dense) and layer.units > N_CLASSES
        ]
        self.masks = [tf.Variable(tf.ones(k.shape), trainable=False) for k in self.kernels]

    def on_epoch_begin(self, epoch, logs=None):
        if epoch < self.begin_epoch:
            return
        done = (epoch + 1 - self.begin_epoch) / (self.end_epoch - self.begin_epoch)
        self.sparsity = self.final_sparsity * (1.0 - (1.0 - min(done, 1.0)) ** 3)

    def update_masks(self):
        for kernel, mask in zip(self.kernels, self.masks):
            magnitude = np.abs(kernel.numpy() * mask.numpy())
            threshold = np.percentile(magnitude, 100.0 * self.sparsity)
            mask.assign((magnitude > threshold).astype("float32"))

    @tf.function
    def apply_masks(self):
        for kernel, mask in zip(self.kernels, self.masks):
            kernel.assign(kernel * mask)

    def on_train_batch_end(self, batch, logs=None):
        if self.sparsity > 0.0:
            self.update_masks()
            self.apply_masks()

    def on_epoch_end(self, epoch, logs=None):
        zeros = sum(int(np.sum(k.numpy() == 0)) for k in self.kernels)
        size = sum(int(np.prod(k.shape)) for k in self.kernels)
        print(f"    sparsity of hidden kernels: {zeros / size:.3f}")


def build_model():
    model = keras.Sequential([keras.Input((N_INPUT,)), keras.layers.LayerNormalization()])
    for width in HIDDEN:
        model.add(keras.layers.Dense(width, activation="relu"))
        model.add(keras.layers.Dropout(0.3))
    model.add(keras.layers.Dense(N_CLASSES))
    return model


def lr_for(epoch, lr):
    if epoch < DENSE_EPOCHS:
        return 1e-3
    return 5e-4 * 0.85 ** (epoch - DENSE_EPOCHS)


def main():
    keras.utils.set_random_seed(3)
    (x_train, y_train), (x_val, y_val) = make_data()
    model = build_model()
    model.compile(
        optimizer=keras.optimizers.Adam(1e-3),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.summary()
    model.fit(
        x_train,
        y_train,
        batch_size=BATCH,
        epochs=EPOCHS,
        validation_data=(x_val, y_val),
        verbose=2,
        callbacks=[
            MagnitudePruning(DENSE_EPOCHS, EPOCHS - 1, FINAL_SPARSITY),
            keras.callbacks.LearningRateScheduler(lr_for),
        ],
    )
    loss, acc = model.evaluate(x_val, y_val, batch_size=500, verbose=0)
    packed = sum(int(np.count_nonzero(w)) for w in model.get_weights())
    print(f"final accuracy {acc:.4f} loss {loss:.4f} non-zero parameters {packed}")


if __name__ == "__main__":
    main()
