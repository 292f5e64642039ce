"""DCGAN-like toy for marbled endpapers, with a weight average for the sampler."""

import os
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(1893)

SIZE, LATENT, BATCH = 24, 24, 16
UPDATES, EMA_FROM = 180, 60


def marbled(n, seed=0):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[:SIZE, :SIZE] / SIZE
    out = []
    for _ in range(n):
        a, b, c = rng.uniform(2, 6, 3)
        v = np.sin(a * 6 * xx + 2 * np.sin(b * 3 * yy)) * np.cos(c * yy)
        out.append(np.stack([v, np.roll(v, 2, 0), -v], -1))
    return np.array(out, "float32")


def generator():
    return keras.Sequential(
        [
            keras.Input((LATENT,)),
            layers.Dense(6 * 6 * 48, activation="relu"),
            layers.Reshape((6, 6, 48)),
            layers.Conv2DTranspose(32, 4, 2, "same", activation="relu"),
            layers.Conv2DTranspose(24, 4, 2, "same", activation="relu"),
            layers.Conv2D(3, 3, padding="same", activation="tanh"),
        ],
        name="generator",
    )


def critic():
    return keras.Sequential(
        [
            keras.Input((SIZE, SIZE, 3)),
            layers.Conv2D(24, 4, 2, "same"),
            layers.LeakyReLU(),
            layers.Conv2D(48, 4, 2, "same"),
            layers.LeakyReLU(),
            layers.Flatten(),
            layers.Dense(1),
        ],
        name="critic",
    )


class Marbler:
    def __init__(self):
        self.g, self.d = generator(), critic()
        self.avg = generator()
        self.avg.set_weights(self.g.get_weights())
        self.g_opt = keras.optimizers.Adam(2e-4, beta_1=0.5)
        self.d_opt = keras.optimizers.Adam(2e-4, beta_1=0.5)

    @tf.function
    def critic_step(self, real):
        z = tf.random.normal((tf.shape(real)[0], LATENT))
        fake = self.g(z, training=True)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.softplus(-self.d(real)) + tf.nn.softplus(self.d(fake)))
        self.d_opt.apply_gradients(
            zip(tape.gradient(loss, self.d.trainable_variables), self.d.trainable_variables)
        )
        return loss

    @tf.function
    def generator_step(self, n):
        with tf.GradientTape() as tape:
            fake = self.g(tf.random.normal((n, LATENT)), training=True)
            loss = tf.reduce_mean(tf.nn.softplus(-self.d(fake)))
        self.g_opt.apply_gradients(
            zip(tape.gradient(loss, self.g.trainable_variables), self.g.trainable_variables)
        )
        return loss

    def path_penalty(self, n=8):
        """Spread of the generator's slope along z; watched, not trained on."""
        z = tf.random.normal((n, LATENT))
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(z)
            img = self.avg(z, training=False)
            parts = [tf.reduce_sum(img[:, r]) for r in range(SIZE)]
        slopes = [tape.gradient(p, z) for p in parts]
        return float(tf.math.reduce_std(tf.norm(tf.stack(slopes), axis=-1)))

    def show(self, writer, i):
        with writer.as_default(step=i):
            for net in (self.g, self.d, self.avg):
                for v in net.trainable_variables:
                    tf.summary.histogram(v.path, v.value)
            tf.summary.image(
                "endpapers", self.avg(tf.random.normal((4, LATENT))) / 2 + 0.5, max_outputs=4
            )

    def blend(self, decay=0.995):
        old, new = self.avg.get_weights(), self.g.get_weights()
        self.avg.set_weights([decay * a + (1 - decay) * b for a, b in zip(old, new)])


def main():
    logdir = tempfile.mkdtemp(prefix="marbling_")
    data = tf.data.Dataset.from_tensor_slices(marbled(512)).cache().shuffle(512, seed=3).repeat()
    data = data.batch(BATCH).prefetch(2)
    studio = Marbler()
    writer = tf.summary.create_file_writer(logdir)
    penalty = 0.0
    t0 = time.time()
    for i, real in enumerate(data.take(UPDATES)):
        d_loss = studio.critic_step(real)
        g_loss = studio.generator_step(BATCH)
        studio.blend(0.9 if i < EMA_FROM else 0.995)
        if i >= EMA_FROM and i % 2 == 0:
            penalty = studio.path_penalty()
        if i % 2 == 1:
            studio.show(writer, i)
        if i % 30 == 29:
            with writer.as_default(step=i):
                tf.summary.scalar("d_loss", d_loss)
                tf.summary.scalar("path", penalty)
            print(
                f"update {i:4d}  d {float(d_loss):.3f}  g {float(g_loss):.3f}  path {penalty:.3f}"
            )
    print(f"training took {time.time() - t0:.2f} s")


if __name__ == "__main__":
    main()
