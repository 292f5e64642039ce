"""VQ-VAE on procedurally generated textures, Keras model with its own train_step."""

import os
import time

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import tensorflow as tf
from keras import layers

SIDE = 32
N_TRAIN, N_TEST = 4096, 320
CODES, CODE_DIM = 768, 48
BATCH = 32
EPOCHS = 3


def make_textures(n, rng):
    yy, xx = np.meshgrid(np.arange(SIDE), np.arange(SIDE), indexing="ij")
    out = np.empty((n, SIDE, SIDE, 1), np.float32)
    for i in range(n):
        angle, freq, phase = rng.uniform(0, np.pi), rng.uniform(0.2, 0.9), rng.uniform(0, 6.28)
        wave = np.sin(freq * (xx * np.cos(angle) + yy * np.sin(angle)) + phase)
        cx, cy, r = rng.uniform(6, 26), rng.uniform(6, 26), rng.uniform(4, 10)
        disc = ((xx - cx) ** 2 + (yy - cy) ** 2 < r * r).astype(np.float32)
        out[i, ..., 0] = 0.5 + 0.3 * wave * (1 - disc) + 0.4 * (disc - 0.5)
    return np.clip(out + rng.normal(0, 0.02, out.shape), 0, 1).astype(np.float32)


class Quantizer(layers.Layer):
    """Nearest-code lookup with a straight-through gradient."""

    def __init__(self, n_codes, dim, beta=0.25, **kw):
        super().__init__(**kw)
        self.n_codes, self.dim, self.beta = n_codes, dim, beta

    def build(self, shape):
        self.codebook = self.add_weight(
            name="codebook",
            shape=(self.n_codes, self.dim),
            initializer=keras.initializers.RandomUniform(-0.5, 0.5, seed=1),
        )

    def call(self, z):
        book = tf.convert_to_tensor(self.codebook)
        flat = tf.reshape(z, [-1, self.dim])
        dist = tf.reduce_sum(tf.square(flat[:, None, :] - book[None, :, :]), axis=-1)
        idx = tf.argmin(dist, axis=-1)
        q = tf.reshape(tf.gather(book, idx), tf.shape(z))
        commit = tf.reduce_mean(tf.square(tf.stop_gradient(q) - z))
        embed = tf.reduce_mean(tf.square(q - tf.stop_gradient(z)))
        self.add_loss(embed + self.beta * commit)
        return z + tf.stop_gradient(q - z), idx


def make_encoder():
    return keras.Sequential(
        [
            keras.Input((SIDE, SIDE, 1)),
            layers.Conv2D(32, 4, strides=2, padding="same", activation="relu"),
            layers.Conv2D(48, 4, strides=2, padding="same", activation="relu"),
            layers.Conv2D(48, 3, padding="same", activation="relu"),
            layers.Conv2D(CODE_DIM, 1),
        ],
        name="encoder",
    )


def make_decoder():
    return keras.Sequential(
        [
            keras.Input((SIDE // 4, SIDE // 4, CODE_DIM)),
            layers.Conv2D(48, 3, padding="same", activation="relu"),
            layers.Conv2DTranspose(48, 4, strides=2, padding="same", activation="relu"),
            layers.Conv2DTranspose(32, 4, strides=2, padding="same", activation="relu"),
            layers.Conv2D(1, 3, padding="same", activation="sigmoid"),
        ],
        name="decoder",
    )


class VQVAE(keras.Model):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.encoder, self.decoder = make_encoder(), make_decoder()
        self.quantizer = Quantizer(CODES, CODE_DIM)
        self.recon_tracker = keras.metrics.Mean(name="recon")
        self.vq_tracker = keras.metrics.Mean(name="vq")

    @property
    def metrics(self):
        return [self.recon_tracker, self.vq_tracker]

    def call(self, x, training=False):
        q, _ = self.quantizer(self.encoder(x, training=training))
        return self.decoder(q, training=training)

    def train_step(self, x):
        with tf.GradientTape() as tape:
            y = self(x, training=True)
            recon = tf.reduce_mean(tf.square(x - y)) / 0.05
            vq = tf.add_n(self.losses)
            loss = recon + vq
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.recon_tracker.update_state(recon)
        self.vq_tracker.update_state(vq)
        return {m.name: m.result() for m in self.metrics}


class Usage(keras.callbacks.Callback):
    def __init__(self, x):
        super().__init__()
        self.x = x
        self.t0 = time.time()

    def on_epoch_end(self, epoch, logs=None):
        _, idx = self.model.quantizer(self.model.encoder(self.x[:64]))
        freq = np.bincount(idx.numpy(), minlength=CODES) / idx.shape[0]
        ppl = np.exp(-np.sum(freq * np.log(freq + 1e-10)))
        mse = float(np.mean((self.model.predict(self.x, verbose=0) - self.x) ** 2))
        print(
            f"epoch {epoch + 1} recon {logs['recon']:.4f} vq {logs['vq']:.4f} "
            f"test mse {mse:.5f} code ppl {ppl:.1f} {time.time() - self.t0:.1f}s",
            flush=True,
        )


def main():
    keras.utils.set_random_seed(21)
    rng = np.random.default_rng(21)
    train, test = make_textures(N_TRAIN, rng), make_textures(N_TEST, rng)
    ds = (
        tf.data.Dataset.from_tensor_slices(train)
        .shuffle(N_TRAIN, seed=21)
        .batch(BATCH, drop_remainder=True)
        .prefetch(2)
    )
    model = VQVAE()
    model(train[:1])
    model.compile(optimizer=keras.optimizers.Adam(1e-3))
    model.fit(ds, epochs=EPOCHS, verbose=0, callbacks=[Usage(test)])


if __name__ == "__main__":
    main()
