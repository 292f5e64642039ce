"""Moss species from microscope patches; trained for flat minima because there
are few slides (sharpness-aware steps, gradient at a shifted point)."""

import os
import tempfile

import numpy as np
import tensorflow as tf
import keras
from keras import layers

SPECIES = 8
SIDE = 40


def patches(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, SPECIES, n)
    g = np.arange(SIDE)
    ang = np.pi * (y % 4)[:, None, None] / 4 + rng.normal(0, 0.1, (n, 1, 1))
    freq = np.where(y < 4, 0.5, 0.9)[:, None, None]
    wave = np.sin(
        freq * (np.cos(ang) * g[None, :, None] + np.sin(ang) * g[None, None, :])
        + rng.uniform(0, 6.28, (n, 1, 1))
    )
    img = 0.5 + 0.2 * wave + rng.normal(0, 0.25, (n, SIDE, SIDE))
    return img[..., None].astype("float32"), y.astype("int32")


class FlatTrainer(keras.Model):
    def __init__(self, net, rho):
        super().__init__()
        self.net, self.rho = net, rho

    def call(self, x, training=False):
        return self.net(x, training=training)

    def gradients(self, x, y):
        with tf.GradientTape() as tape:
            logits = self.net(x, training=True)
            loss = self.compute_loss(x=x, y=y, y_pred=logits)
        return logits, loss, tape.gradient(loss, self.net.trainable_variables)

    def train_step(self, data):
        x, y = data
        params = self.net.trainable_variables
        logits, loss, g = self.gradients(x, y)
        scale = self.rho / (tf.linalg.global_norm(g) + 1e-12)
        shifts = [scale * gi for gi in g]
        for p, s in zip(params, shifts):
            p.assign_add(s)
        _, _, g = self.gradients(x, y)
        for p, s in zip(params, shifts):
            p.assign_sub(s)
        self.optimizer.apply_gradients(zip(g, params))
        for m in self.metrics:
            if m.name == "loss":
                m.update_state(loss)
            else:
                m.update_state(y, logits)
        return self.get_metrics_result()


def slide_net():
    inp = keras.Input((SIDE, SIDE, 1))
    h = inp
    for w in (24, 40, 64):
        h = layers.Conv2D(w, 3, padding="same")(h)
        h = layers.GroupNormalization(groups=8)(h)
        h = layers.Activation("relu")(h)
        h = layers.MaxPooling2D()(h)
    h = layers.GlobalAveragePooling2D()(h)
    return keras.Model(inp, layers.Dense(SPECIES)(h))


class Report(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        norm = float(tf.linalg.global_norm([v.value for v in self.model.net.trainable_variables]))
        print(
            f"epoch {epoch} |w| {norm:.3f} " + " ".join(f"{k} {v:.4f}" for k, v in logs.items()),
            flush=True,
        )


def main():
    keras.utils.set_random_seed(1)
    x, y = patches(1600, 1)
    xv, yv = patches(400, 2)
    ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(1600).batch(50).prefetch(2)
    model = FlatTrainer(slide_net(), rho=0.05)
    model(x[:2])
    model.compile(
        optimizer=keras.optimizers.SGD(0.05, momentum=0.9),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=[keras.metrics.SparseCategoricalAccuracy(name="acc")],
    )
    with tempfile.TemporaryDirectory() as folder:
        keep = keras.callbacks.ModelCheckpoint(
            os.path.join(folder, "best.weights.h5"),
            monitor="val_loss",
            save_best_only=True,
            save_weights_only=True,
        )
        model.fit(
            ds,
            validation_data=(xv, yv),
            validation_freq=2,
            epochs=10,
            verbose=0,
            callbacks=[Report(), keep],
        )
        print("final", model.evaluate(xv, yv, verbose=0, return_dict=True))


if __name__ == "__main__":
    main()
