import time
import numpy as np
import tensorflow as tf
import keras
from keras import layers

IMG, Z = 16, 32
BATCH, EPOCHS, CRITIC_ITERS = 64, 7, 4
keras.utils.set_random_seed(42)


def glyphs(n):
    """little crosses, rings and bars"""
    rng = np.random.RandomState(42)
    yy, xx = np.mgrid[0:IMG, 0:IMG] - IMG / 2 + 0.5
    out = np.empty((n, IMG, IMG, 1), "float32")
    for i in range(n):
        cy, cx = rng.uniform(-2, 2, 2)
        r = rng.uniform(3, 5.5)
        k = rng.randint(3)
        if k == 0:
            d = np.minimum(abs(yy - cy), abs(xx - cx)) + 3 * (
                np.maximum(abs(yy - cy), abs(xx - cx)) > r
            )
        elif k == 1:
            d = abs(np.hypot(yy - cy, xx - cx) - r)
        else:
            d = abs(yy - cy - (xx - cx) * rng.uniform(-1, 1))
        out[i, ..., 0] = np.tanh(2 * (1.0 - d))
    return out


def build_generator():
    return keras.Sequential(
        [
            keras.Input((Z,)),
            layers.Dense(4 * 4 * 64),
            layers.Reshape((4, 4, 64)),
            layers.BatchNormalization(),
            layers.LeakyReLU(0.2),
            layers.Conv2DTranspose(48, 4, strides=2, padding="same"),
            layers.BatchNormalization(),
            layers.LeakyReLU(0.2),
            layers.Conv2DTranspose(24, 4, strides=2, padding="same"),
            layers.LeakyReLU(0.2),
            layers.Conv2D(1, 3, padding="same", activation="tanh"),
        ],
        name="G",
    )


def build_critic():
    return keras.Sequential(
        [
            keras.Input((IMG, IMG, 1)),
            layers.Conv2D(24, 4, strides=2, padding="same"),
            layers.LeakyReLU(0.2),
            layers.Conv2D(48, 4, strides=2, padding="same"),
            layers.LeakyReLU(0.2),
            layers.Flatten(),
            layers.Dense(64),
            layers.LeakyReLU(0.2),
            layers.Dense(1),
        ],
        name="C",
    )


class WGANGP(keras.Model):
    def __init__(self, g, c, gp=10.0):
        super().__init__()
        self.g, self.c, self.gp = g, c, gp
        self.g_m, self.c_m = keras.metrics.Mean("g_loss"), keras.metrics.Mean("c_loss")

    @property
    def metrics(self):
        return [self.g_m, self.c_m]

    def compile(self, g_opt, c_opt, **kw):
        super().compile(**kw)
        self.g_opt, self.c_opt = g_opt, c_opt

    def penalty(self, real, fake):
        a = tf.random.uniform([tf.shape(real)[0], 1, 1, 1])
        mix = real + a * (fake - real)
        with tf.GradientTape() as t:
            t.watch(mix)
            s = self.c(mix, training=True)
        n = tf.sqrt(tf.reduce_sum(tf.square(t.gradient(s, mix)), [1, 2, 3]) + 1e-12)
        return tf.reduce_mean((n - 1.0) ** 2)

    def train_step(self, real):
        b = tf.shape(real)[0]
        for _ in range(CRITIC_ITERS):
            fake = self.g(tf.random.normal([b, Z]), training=True)
            with tf.GradientTape() as tape:
                c_loss = tf.reduce_mean(self.c(fake, training=True)) - tf.reduce_mean(
                    self.c(real, training=True)
                )
                total = c_loss + self.gp * self.penalty(real, fake)
            grads = tape.gradient(total, self.c.trainable_variables)
            self.c_opt.apply_gradients(zip(grads, self.c.trainable_variables))
            self.c_m.update_state(c_loss)
        with tf.GradientTape() as tape:
            g_loss = -tf.reduce_mean(
                self.c(self.g(tf.random.normal([b, Z]), training=True), training=True)
            )
        grads = tape.gradient(g_loss, self.g.trainable_variables)
        self.g_opt.apply_gradients(zip(grads, self.g.trainable_variables))
        self.g_m.update_state(g_loss)
        return {m.name: m.result() for m in self.metrics}


class Preview(keras.callbacks.Callback):
    def __init__(self, every=2):
        super().__init__()
        self.z = tf.random.normal([16, Z], seed=1)
        self.every = every
        self.t = time.time()

    def on_epoch_end(self, epoch, logs=None):
        print(
            f"epoch {epoch + 1}: "
            + " ".join(f"{k}={float(v):.3f}" for k, v in logs.items())
            + f" ({time.time() - self.t:.1f}s)"
        )
        if epoch % self.every == 0:
            img = self.model.g(self.z, training=False).numpy()[0, ::2, :, 0]
            for row in img:
                print("   " + "".join(" .:*#"[int((v + 1) * 2.49)] for v in row))


data = glyphs(1600)
ds = (
    tf.data.Dataset.from_tensor_slices(data)
    .shuffle(1600)
    .batch(BATCH, drop_remainder=True)
    .prefetch(tf.data.AUTOTUNE)
)
gan = WGANGP(build_generator(), build_critic())
gan.compile(keras.optimizers.Adam(2e-4, beta_1=0.5), keras.optimizers.Adam(2e-4, beta_1=0.5))
gan.fit(ds, epochs=EPOCHS, verbose=0, callbacks=[Preview()])
