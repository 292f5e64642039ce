import time

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(4)
LATENT = 48


def galaxies(n, size=32):
    rng = np.random.default_rng(1)
    yy, xx = np.mgrid[-1 : 1 : size * 1j, -1 : 1 : size * 1j]
    angle = rng.uniform(0, np.pi, (n, 1, 1))
    q = rng.uniform(0.3, 1, (n, 1, 1))
    u = xx * np.cos(angle) + yy * np.sin(angle)
    v = (-xx * np.sin(angle) + yy * np.cos(angle)) / q
    r = np.sqrt(u**2 + v**2)
    arms = 1 + 0.6 * np.cos(2 * np.arctan2(v, u) - 9 * r)
    img = np.exp(-r * rng.uniform(3, 6, (n, 1, 1))) * arms
    img = img / img.max((1, 2), keepdims=True) * 2 - 1
    return img[..., None].astype("float32")


def make_generator():
    return keras.Sequential(
        [
            keras.Input((LATENT,)),
            layers.Dense(8 * 8 * 64, activation="relu"),
            layers.Reshape((8, 8, 64)),
            layers.Conv2DTranspose(48, 4, strides=2, padding="same", activation="relu"),
            layers.Conv2DTranspose(32, 4, strides=2, padding="same", activation="relu"),
            layers.Conv2D(1, 3, padding="same", activation="tanh"),
        ],
        name="generator",
    )


def make_critic():
    return keras.Sequential(
        [
            keras.Input((32, 32, 1)),
            layers.Conv2D(32, 4, strides=2, padding="same"),
            layers.LeakyReLU(0.2),
            layers.Conv2D(64, 4, strides=2, padding="same"),
            layers.LeakyReLU(0.2),
            layers.Flatten(),
            layers.Dense(1),
        ],
        name="critic",
    )


class GalaxyGAN(keras.Model):
    """Three critic updates on thirds of the batch, then one generator update."""

    def __init__(self):
        super().__init__()
        self.gen, self.critic = make_generator(), make_critic()
        self.trackers = {k: keras.metrics.Mean(name=k) for k in ("critic", "gen")}

    def compile(self, gen_opt, critic_opt):
        super().compile()
        self.gen_opt, self.critic_opt = gen_opt, critic_opt

    @property
    def metrics(self):
        return list(self.trackers.values())

    def call(self, z):
        return self.gen(z)

    def critic_update(self, real):
        n = tf.shape(real)[0]
        fake = self.gen(tf.random.normal([n, LATENT]), training=True)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(
                tf.nn.relu(1 - self.critic(real, training=True))
            ) + tf.reduce_mean(tf.nn.relu(1 + self.critic(fake, training=True)))
        grads = tape.gradient(loss, self.critic.trainable_variables)
        self.critic_opt.apply(grads, self.critic.trainable_variables)
        self.trackers["critic"].update_state(loss)

    def train_step(self, real):
        for part in tf.split(real, 3):
            self.critic_update(part)
        with tf.GradientTape() as tape:
            fake = self.gen(tf.random.normal([64, LATENT]), training=True)
            loss = -tf.reduce_mean(self.critic(fake, training=True))
        grads = tape.gradient(loss, self.gen.trainable_variables)
        self.gen_opt.apply(grads, self.gen.trainable_variables)
        self.trackers["gen"].update_state(loss)
        return {k: m.result() for k, m in self.trackers.items()}


class LightProfile(keras.callbacks.Callback):
    """Compares radial light profiles of 64 samples every 50 batches."""

    def __init__(self, reference):
        super().__init__()
        self.z = tf.random.normal([64, LATENT])
        self.reference = reference.mean((0, 3))
        self.seen, self.curve = 0, []

    def on_train_batch_end(self, batch, logs=None):
        self.seen += 1
        if self.seen % 50 == 0:
            sample = self.model.gen(self.z, training=False).numpy().mean((0, 3))
            self.curve.append(float(np.abs(sample - self.reference).mean()))


data = galaxies(3840)
ds = (
    tf.data.Dataset.from_tensor_slices(data)
    .shuffle(3840)
    .batch(192, drop_remainder=True)
    .prefetch(tf.data.AUTOTUNE)
)
gan = GalaxyGAN()
gan(tf.zeros([1, LATENT]))
gan.compile(keras.optimizers.Adam(2e-4, 0.5), keras.optimizers.Adam(2e-4, 0.5))
profile = LightProfile(data)
t0 = time.time()
gan.fit(ds, epochs=6, callbacks=[profile], verbose=2)
print("train wall", round(time.time() - t0, 2))
print("profile distance", profile.curve)
