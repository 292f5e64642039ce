"""A small GAN that learns pictures of rings, as a model with its own train_step."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

LATENT = 32


def rings(n=3000):
    rng = np.random.default_rng(0)
    y, x = np.mgrid[-1:1:20j, -1:1:20j]
    radius = rng.uniform(0.3, 0.8, (n, 1, 1))
    pictures = np.exp(-(((np.sqrt(x * x + y * y)[None] - radius) / 0.08) ** 2))
    return pictures[..., None].astype("float32") * 2 - 1


class GAN(keras.Model):
    def __init__(self, discriminator, generator):
        super().__init__()
        self.discriminator, self.generator = discriminator, generator
        self.d_metric = keras.metrics.Mean(name="d_loss")
        self.g_metric = keras.metrics.Mean(name="g_loss")

    def compile(self, d_optimizer, g_optimizer, loss_fn):
        super().compile()
        self.d_optimizer, self.g_optimizer, self.loss_fn = d_optimizer, g_optimizer, loss_fn

    @property
    def metrics(self):
        return [self.d_metric, self.g_metric]

    def train_step(self, real):
        n = tf.shape(real)[0]
        fake = self.generator(tf.random.normal((n, LATENT)))
        both = tf.concat([fake, real], axis=0)
        labels = tf.concat([tf.ones((n, 1)), tf.zeros((n, 1))], axis=0)
        labels += 0.05 * tf.random.uniform(tf.shape(labels))
        with tf.GradientTape() as tape:
            d_loss = self.loss_fn(labels, self.discriminator(both, training=True))
        grads = tape.gradient(d_loss, self.discriminator.trainable_weights)
        self.d_optimizer.apply_gradients(zip(grads, self.discriminator.trainable_weights))
        with tf.GradientTape() as tape:
            made = self.generator(tf.random.normal((n, LATENT)), training=True)
            g_loss = self.loss_fn(tf.zeros((n, 1)), self.discriminator(made))
        grads = tape.gradient(g_loss, self.generator.trainable_weights)
        self.g_optimizer.apply_gradients(zip(grads, self.generator.trainable_weights))
        self.d_metric.update_state(d_loss)
        self.g_metric.update_state(g_loss)
        return {m.name: m.result() for m in self.metrics}


class SaveSamples(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        made = self.model.generator(tf.random.normal((16, LATENT)))
        np.save(f"samples_{epoch:02d}.npy", made.numpy())


discriminator = keras.Sequential(
    [
        keras.Input((20, 20, 1)),
        layers.Conv2D(24, 4, strides=2, padding="same"),
        layers.LeakyReLU(0.2),
        layers.Conv2D(32, 4, strides=2, padding="same"),
        layers.LeakyReLU(0.2),
        layers.Flatten(),
        layers.Dense(1),
    ]
)
generator = keras.Sequential(
    [
        keras.Input((LATENT,)),
        layers.Dense(5 * 5 * 32, activation="relu"),
        layers.Reshape((5, 5, 32)),
        layers.Conv2DTranspose(24, 4, strides=2, padding="same", activation="relu"),
        layers.Conv2DTranspose(1, 4, strides=2, padding="same", activation="tanh"),
    ]
)
gan = GAN(discriminator, generator)
gan.compile(
    keras.optimizers.Adam(2e-4, beta_1=0.5),
    keras.optimizers.Adam(2e-4, beta_1=0.5),
    keras.losses.BinaryCrossentropy(from_logits=True),
)
pictures = tf.data.Dataset.from_tensor_slices(rings()).shuffle(1000).batch(50).prefetch(2)
gan.fit(pictures, epochs=8, verbose=2, callbacks=[SaveSamples()])
