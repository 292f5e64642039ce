"""Convolutional variational autoencoder on small stroke drawings.

Cyclical KL weight as in Fu et al. (2019).
"""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

SEED = 7
SIZE = 24
LATENT = 12
BATCH = 64
EPOCHS = 7
keras.utils.set_random_seed(SEED)


def draw_strokes(n, rng):
    grid = np.linspace(-1, 1, SIZE, dtype="float32")
    yy, xx = np.meshgrid(grid, grid, indexing="ij")
    imgs = np.zeros((n, SIZE, SIZE), "float32")
    for _ in range(3):
        angle = rng.uniform(0, np.pi, (n, 1, 1)).astype("float32")
        offset = rng.uniform(-0.5, 0.5, (n, 1, 1)).astype("float32")
        bend = rng.uniform(-0.6, 0.6, (n, 1, 1)).astype("float32")
        along = xx * np.cos(angle) + yy * np.sin(angle)
        across = -xx * np.sin(angle) + yy * np.cos(angle)
        dist = across - offset - bend * along**2
        imgs = np.maximum(imgs, np.exp(-((dist / 0.12) ** 2)) * (np.abs(along) < 0.8))
    return imgs[..., None]


class Sampling(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.seed_generator = keras.random.SeedGenerator(SEED)

    def call(self, inputs):
        mean, logvar = inputs
        eps = keras.random.normal(keras.ops.shape(mean), seed=self.seed_generator)
        return mean + keras.ops.exp(0.5 * logvar) * eps


def conv_block(x, filters, stride=1):
    x = layers.Conv2D(filters, 3, strides=stride, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization()(x)
    return layers.Activation("swish")(x)


def make_encoder():
    inp = keras.Input((SIZE, SIZE, 1))
    x = conv_block(inp, 12, 2)
    x = conv_block(x, 24, 2)
    x = conv_block(x, 32, 2)
    x = layers.Flatten()(x)
    x = layers.Dense(64, activation="swish")(x)
    mean = layers.Dense(LATENT)(x)
    logvar = layers.Dense(LATENT)(x)
    return keras.Model(inp, [mean, logvar, Sampling()([mean, logvar])], name="encoder")


def make_decoder():
    inp = keras.Input((LATENT,))
    x = layers.Dense(3 * 3 * 32, activation="swish")(inp)
    x = layers.Reshape((3, 3, 32))(x)
    for filters in (24, 24, 12):
        x = layers.UpSampling2D()(x)
        x = conv_block(x, filters)
    out = layers.Conv2D(1, 3, padding="same")(x)
    return keras.Model(inp, out, name="decoder")


class VAE(keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.encoder = make_encoder()
        self.decoder = make_decoder()
        self.beta = 0.0
        self.trackers = {k: keras.metrics.Mean(name=k) for k in ("loss", "recon", "kl")}

    @property
    def metrics(self):
        return list(self.trackers.values())

    def train_step(self, data):
        with tf.GradientTape() as tape:
            mean, logvar, z = self.encoder(data, training=True)
            logits = self.decoder(z, training=True)
            bce = tf.nn.sigmoid_cross_entropy_with_logits(labels=data, logits=logits)
            recon = tf.reduce_mean(tf.reduce_sum(bce, axis=(1, 2, 3)))
            kl = -0.5 * tf.reduce_sum(1 + logvar - mean**2 - tf.exp(logvar), axis=1)
            kl = tf.reduce_mean(kl)
            loss = recon + self.beta * kl
        weights = self.trainable_weights
        self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        for name, value in (("loss", loss), ("recon", recon), ("kl", kl)):
            self.trackers[name].update_state(value)
        return {m.name: m.result() for m in self.metrics}


class CyclicalBeta(keras.callbacks.Callback):
    def __init__(self, period=4, top=1.0):
        super().__init__()
        self.period, self.top = period, top

    def on_epoch_begin(self, epoch, logs=None):
        phase = (epoch % self.period) / self.period
        self.model.beta = self.top * min(1.0, 2 * phase)
        self.model.make_train_function(force=True)


def main():
    rng = np.random.default_rng(SEED)
    images = draw_strokes(2000, rng)
    data = tf.data.Dataset.from_tensor_slices(images).shuffle(len(images), seed=SEED)
    data = data.batch(BATCH, drop_remainder=True).prefetch(tf.data.AUTOTUNE)

    vae = VAE()
    vae.compile(optimizer=keras.optimizers.Adam(1e-3))
    history = vae.fit(data, epochs=EPOCHS, verbose=2, callbacks=[CyclicalBeta()])
    print("final reconstruction", round(history.history["recon"][-1], 2))

    samples = vae.decoder.predict(rng.normal(size=(16, LATENT)).astype("float32"), verbose=0)
    print("mean ink of 16 samples", round(float(np.mean(1 / (1 + np.exp(-samples)))), 3))


if __name__ == "__main__":
    main()
