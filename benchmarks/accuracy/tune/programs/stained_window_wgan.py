# WGAN-GP for stained window tiles (notebook export). Critic trains five times per generator update.
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


def window_tiles(n, rng, side=28):
    pts = rng.uniform(0, side, (n, 7, 2))
    cols = rng.uniform(-1, 1, (n, 7, 3))
    yy, xx = np.mgrid[0:side, 0:side]
    grid = np.stack([yy, xx], -1).reshape(-1, 2)
    tiles = np.empty((n, side * side, 3), np.float32)
    for i in range(n):
        d = ((grid[:, None] - pts[i][None]) ** 2).sum(-1)
        two = np.sort(d, 1)[:, :2]
        tiles[i] = cols[i][d.argmin(1)]
        tiles[i][np.sqrt(two[:, 1]) - np.sqrt(two[:, 0]) < 0.8] = -1.0
    return tiles.reshape(n, side, side, 3)


class WindowWGAN(keras.Model):
    def __init__(self, z=32, n_critic=5, gp=10.0):
        super().__init__()
        self.z, self.n_critic, self.gp = z, n_critic, gp
        self.gen = keras.Sequential(
            [
                keras.Input((z,)),
                layers.Dense(7 * 7 * 48, activation="relu"),
                layers.Reshape((7, 7, 48)),
                layers.Conv2DTranspose(32, 4, 2, "same", activation="relu"),
                layers.Conv2DTranspose(24, 4, 2, "same", activation="relu"),
                layers.Conv2D(3, 3, padding="same", activation="tanh"),
            ]
        )
        self.critic = keras.Sequential(
            [
                keras.Input((28, 28, 3)),
                layers.Conv2D(24, 4, 2, "same"),
                layers.LeakyReLU(),
                layers.Conv2D(48, 4, 2, "same"),
                layers.LeakyReLU(),
                layers.Flatten(),
                layers.Dense(1),
            ]
        )
        self.counter = self.add_weight(
            shape=(), dtype="int64", trainable=False, initializer="zeros"
        )

    def compile(self, g_opt, c_opt):
        super().compile()
        self.g_opt, self.c_opt = g_opt, c_opt
        self.g_opt.build(self.gen.trainable_variables)
        self.c_opt.build(self.critic.trainable_variables)
        self.c_avg, self.g_avg = keras.metrics.Mean(name="critic"), keras.metrics.Mean(name="gen")

    @property
    def metrics(self):
        return [self.c_avg, self.g_avg]

    def penalty(self, real, fake):
        a = tf.random.uniform([tf.shape(real)[0], 1, 1, 1])
        mid = a * real + (1 - a) * fake
        with tf.GradientTape() as tape:
            tape.watch(mid)
            out = self.critic(mid, training=True)
        norm = tf.sqrt(tf.reduce_sum(tape.gradient(out, mid) ** 2, [1, 2, 3]) + 1e-8)
        return tf.reduce_mean((norm - 1.0) ** 2)

    def generator_update(self, n):
        with tf.GradientTape() as tape:
            fake = self.gen(tf.random.normal([n, self.z]), training=True)
            loss = -tf.reduce_mean(self.critic(fake, training=True))
        grads = tape.gradient(loss, self.gen.trainable_variables)
        self.g_opt.apply_gradients(zip(grads, self.gen.trainable_variables))
        self.g_avg.update_state(loss)
        return loss

    def train_step(self, real):
        n = tf.shape(real)[0]
        fake = self.gen(tf.random.normal([n, self.z]), training=True)
        with tf.GradientTape() as tape:
            loss = (
                tf.reduce_mean(self.critic(fake, training=True))
                - tf.reduce_mean(self.critic(real, training=True))
                + self.gp * self.penalty(real, fake)
            )
        grads = tape.gradient(loss, self.critic.trainable_variables)
        self.c_opt.apply_gradients(zip(grads, self.critic.trainable_variables))
        self.c_avg.update_state(loss)
        self.counter.assign_add(1)
        tf.cond(
            tf.equal(self.counter % self.n_critic, 0), lambda: self.generator_update(n), lambda: 0.0
        )
        return {m.name: m.result() for m in self.metrics}


def main():
    keras.utils.set_random_seed(14)
    tiles = window_tiles(2560, np.random.default_rng(14))
    ds = tf.data.Dataset.from_tensor_slices(tiles).shuffle(2560).batch(64).prefetch(2)
    gan = WindowWGAN()
    gan.compile(keras.optimizers.Adam(1e-4, beta_1=0.5), keras.optimizers.Adam(1e-4, beta_1=0.5))
    gan.fit(ds, epochs=20, verbose=2)
    sheet = gan.gen.predict(np.random.normal(size=(16, gan.z)), verbose=0)
    print("sample range", sheet.min(), sheet.max())


if __name__ == "__main__":
    main()
