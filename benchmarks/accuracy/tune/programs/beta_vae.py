import os
import tempfile

import numpy as np
import tensorflow as tf
from PIL import Image
from tensorflow import keras
from tensorflow.keras import layers

RES = 32
LATENT = 10


def shapes_dataset(n, seed=0):
    r = np.random.RandomState(seed)
    yy, xx = np.mgrid[0:RES, 0:RES]
    imgs = np.zeros((n, RES, RES, 1), "float32")
    for i in range(n):
        cx, cy, s = r.uniform(8, 24), r.uniform(8, 24), r.uniform(3, 8)
        if r.rand() < 0.5:
            imgs[i, ..., 0] = (np.abs(xx - cx) < s) & (np.abs(yy - cy) < s)
        else:
            imgs[i, ..., 0] = (xx - cx) ** 2 + (yy - cy) ** 2 < s * s
    return imgs


class Sampling(layers.Layer):
    def call(self, inputs):
        mu, logvar = inputs
        return mu + tf.exp(0.5 * logvar) * tf.random.normal(tf.shape(mu))


def encoder():
    x = keras.Input((RES, RES, 1))
    h = layers.Conv2D(32, 4, 2, "same", activation="relu")(x)
    h = layers.Conv2D(64, 4, 2, "same", activation="relu")(h)
    h = layers.Conv2D(64, 4, 2, "same", activation="relu")(h)
    h = layers.Dense(128, activation="relu")(layers.Flatten()(h))
    mu, logvar = layers.Dense(LATENT)(h), layers.Dense(LATENT)(h)
    return keras.Model(x, [mu, logvar, Sampling()([mu, logvar])], name="encoder")


def decoder():
    z = keras.Input((LATENT,))
    h = layers.Reshape((4, 4, 64))(layers.Dense(4 * 4 * 64, activation="relu")(z))
    h = layers.Conv2DTranspose(64, 4, 2, "same", activation="relu")(h)
    h = layers.Conv2DTranspose(32, 4, 2, "same", activation="relu")(h)
    return keras.Model(z, layers.Conv2DTranspose(1, 4, 2, "same")(h), name="decoder")


class BetaVAE(keras.Model):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.encoder, self.decoder = encoder(), decoder()
        self.beta = tf.Variable(0.0, trainable=False)
        self.trackers = {k: keras.metrics.Mean(name=k) for k in ("loss", "recon", "kl")}

    @property
    def metrics(self):
        return list(self.trackers.values())

    def elbo(self, x, training):
        mu, logvar, z = self.encoder(x, training=training)
        logits = self.decoder(z, training=training)
        recon = tf.reduce_mean(
            tf.reduce_sum(
                tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits), axis=(1, 2, 3)
            )
        )
        kl = -0.5 * tf.reduce_mean(tf.reduce_sum(1 + logvar - mu**2 - tf.exp(logvar), axis=1))
        return recon + self.beta * kl, recon, kl

    def record(self, *values):
        for tracker, v in zip(self.trackers.values(), values):
            tracker.update_state(v)
        return {k: t.result() for k, t in self.trackers.items()}

    def train_step(self, x):
        with tf.GradientTape() as tape:
            loss, recon, kl = self.elbo(x, True)
        self.optimizer.apply_gradients(
            zip(tape.gradient(loss, self.trainable_weights), self.trainable_weights)
        )
        return self.record(loss, recon, kl)

    def test_step(self, x):
        return self.record(*self.elbo(x, False))


class BetaWarmup(keras.callbacks.Callback):
    def __init__(self, steps, final):
        super().__init__()
        self.steps, self.final, self.seen = steps, final, 0

    def on_train_batch_begin(self, batch, logs=None):
        self.seen += 1
        self.model.beta.assign(self.final * min(1.0, self.seen / self.steps))


class LatentTraversal(keras.callbacks.Callback):
    """Writes one picture per latent dimension at the end of every epoch."""

    def __init__(self, out):
        super().__init__()
        self.out = out

    def on_epoch_end(self, epoch, logs=None):
        span = np.linspace(-2.5, 2.5, 9, dtype="float32")
        z = np.zeros((LATENT, 9, LATENT), "float32")
        for dim in range(LATENT):
            z[dim, :, dim] = span
        x = tf.sigmoid(self.model.decoder(z.reshape(-1, LATENT), training=False)).numpy()
        x = x.reshape(LATENT, 9, RES, RES)
        for dim in range(LATENT):
            strip = Image.fromarray((np.hstack(x[dim]) * 255).astype("uint8"))
            strip.save(os.path.join(self.out, f"e{epoch:02d}_z{dim}.png"))


class KeepEverything(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.batches = []

    def on_train_batch_end(self, batch, logs=None):
        self.batches.append(dict(logs, lr=float(self.model.optimizer.learning_rate)))


if __name__ == "__main__":
    keras.utils.set_random_seed(8)
    out = tempfile.mkdtemp(prefix="bvae_")
    data = shapes_dataset(3200)
    train = (
        tf.data.Dataset.from_tensor_slices(data[:2900])
        .shuffle(2900)
        .batch(64, drop_remainder=True)
        .prefetch(2)
    )
    valid = tf.data.Dataset.from_tensor_slices(data[2900:]).batch(64)
    vae = BetaVAE()
    vae.compile(optimizer=keras.optimizers.Adam(1e-3))
    keep = KeepEverything()
    vae.fit(
        train,
        validation_data=valid,
        epochs=28,
        verbose=2,
        callbacks=[BetaWarmup(400, 4.0), LatentTraversal(out), keep],
    )
    print(
        "first/last batch loss: %.2f / %.2f" % (keep.batches[0]["loss"], keep.batches[-1]["loss"])
    )
