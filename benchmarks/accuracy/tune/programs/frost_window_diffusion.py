"""Denoising diffusion of frost on a window pane, as a Keras model with its own train_step."""

import gc
import os
import tempfile

import numpy as np
import tensorflow as tf

SIDE, LEVELS = 24, 60
BATCH, EPOCHS = 64, 8


def panes(n, seed=0):
    rng = np.random.default_rng(seed)
    f = np.fft.fftfreq(SIDE)
    power = 1 / (0.03 + np.hypot(f[:, None], f[None, :])) ** 1.6
    field = np.fft.ifft2(np.fft.fft2(rng.normal(size=(n, SIDE, SIDE))) * power).real
    field /= field.std((1, 2), keepdims=True)
    return np.tanh(2 * field)[..., None].astype(np.float32)


class Block(tf.keras.layers.Layer):
    def __init__(self, width):
        super().__init__()
        self.a = tf.keras.layers.Conv2D(width, 3, padding="same", activation="swish")
        self.b = tf.keras.layers.Conv2D(width, 3, padding="same")
        self.t = tf.keras.layers.Dense(width)

    def call(self, x, emb):
        return tf.nn.swish(x + self.b(self.a(x) + self.t(emb)[:, None, None]))


class Denoiser(tf.keras.Model):
    def __init__(self, width=32):
        super().__init__()
        beta = np.linspace(1e-3, 0.12, LEVELS)
        self.beta = tf.constant(beta, tf.float32)
        self.keep = tf.constant(np.cumprod(1 - beta), tf.float32)
        self.level = tf.keras.layers.Embedding(LEVELS, 32)
        self.stem = tf.keras.layers.Conv2D(width, 3, padding="same")
        self.blocks = [Block(width) for _ in range(3)]
        self.out = tf.keras.layers.Conv2D(1, 3, padding="same")
        self.loss_mean = tf.keras.metrics.Mean(name="loss")

    def call(self, inputs):
        x, t = inputs
        emb, x = self.level(t), self.stem(x)
        for block in self.blocks:
            x = block(x, emb)
        return self.out(x)

    def train_step(self, x):
        t = tf.random.uniform((tf.shape(x)[0],), 0, LEVELS, tf.int32)
        a = tf.gather(self.keep, t)[:, None, None, None]
        noise = tf.random.normal(tf.shape(x))
        with tf.GradientTape() as tape:
            guess = self((tf.sqrt(a) * x + tf.sqrt(1 - a) * noise, t), training=True)
            loss = tf.reduce_mean(tf.square(guess - noise))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.loss_mean.update_state(loss)
        return {"loss": self.loss_mean.result()}

    @tf.function
    def sample(self, n):
        x = tf.random.normal((n, SIDE, SIDE, 1))
        for i in tf.range(LEVELS - 1, -1, -1):
            b, a = self.beta[i], self.keep[i]
            guess = self((x, tf.fill((n,), i)))
            x = (x - b / tf.sqrt(1 - a) * guess) / tf.sqrt(1 - b)
            x += tf.sqrt(b) * tf.random.normal(tf.shape(x)) * tf.cast(i > 0, tf.float32)
            x = tf.ensure_shape(x, (n, SIDE, SIDE, 1))
        return x


class Gallery(tf.keras.callbacks.Callback):
    def __init__(self, folder):
        super().__init__()
        self.folder = folder

    def on_epoch_end(self, epoch, logs=None):
        if epoch % 2 == 1:
            pictures = self.model.sample(4).numpy()
            np.save(os.path.join(self.folder, f"panes_{epoch}.npy"), pictures)
            print(f"epoch {epoch} loss {logs['loss']:.4f} spread {pictures.std():.3f}")
            gc.collect()


def main():
    tf.keras.utils.set_random_seed(8)
    folder = tempfile.mkdtemp(prefix="frost_")
    ds = tf.data.Dataset.from_tensor_slices(panes(2560))
    ds = ds.cache().shuffle(2560).batch(BATCH, drop_remainder=True).prefetch(2)
    model = Denoiser()
    model.compile(optimizer=tf.keras.optimizers.AdamW(1e-3, use_ema=True, ema_momentum=0.99))
    model.fit(
        ds,
        epochs=EPOCHS,
        verbose=0,
        callbacks=[
            Gallery(folder),
            tf.keras.callbacks.ModelCheckpoint(
                os.path.join(folder, "last.weights.h5"), save_weights_only=True
            ),
            tf.keras.callbacks.CSVLogger(os.path.join(folder, "log.csv")),
        ],
    )


if __name__ == "__main__":
    main()
