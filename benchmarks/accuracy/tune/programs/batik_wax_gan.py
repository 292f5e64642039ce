"""GAN for batik cracks with a lazily applied R1 penalty and a smoothed generator for samples."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(9)

SIZE, LATENT, BATCH = 32, 48, 32
STEPS = 340
R1_EVERY = 8
R1_GAMMA = 1.0


def cloths(n, seed=0):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:SIZE, 0:SIZE] / SIZE
    out = np.zeros((n, SIZE, SIZE, 1), "float32")
    for i in range(n):
        f = rng.integers(2, 6, 2)
        p = rng.uniform(0, 6.28, 2)
        motif = np.sin(6.28 * f[0] * xx + p[0]) * np.sin(6.28 * f[1] * yy + p[1])
        crack = np.abs(np.sin(9 * xx + 5 * np.sin(3 * yy + p[0]))) < 0.07
        out[i, ..., 0] = np.clip(motif - crack, -1, 1)
    return out


def generator():
    z = tf.keras.Input((LATENT,))
    x = layers.Dense(4 * 4 * 64)(z)
    x = layers.Reshape((4, 4, 64))(x)
    for f in (48, 32, 24):
        x = layers.UpSampling2D()(x)
        x = layers.Conv2D(f, 3, padding="same")(x)
        x = layers.BatchNormalization()(x)
        x = layers.LeakyReLU(negative_slope=0.2)(x)
    return tf.keras.Model(z, layers.Conv2D(1, 3, padding="same", activation="tanh")(x))


def critic():
    inp = tf.keras.Input((SIZE, SIZE, 1))
    x = inp
    for f in (24, 48, 64):
        x = layers.Conv2D(f, 4, strides=2, padding="same")(x)
        x = layers.LeakyReLU(negative_slope=0.2)(x)
    return tf.keras.Model(inp, layers.Dense(1)(layers.Flatten()(x)))


class BatikGAN:
    def __init__(self):
        self.g, self.d = generator(), critic()
        self.g_smooth = generator()
        self.g_smooth.set_weights(self.g.get_weights())
        self.g_opt = tf.keras.optimizers.Adam(2e-4, beta_1=0.0)
        self.d_opt = tf.keras.optimizers.Adam(3e-4, beta_1=0.0)
        self.d_opt.build(self.d.trainable_variables)
        self.g_opt.build(self.g.trainable_variables)

    @tf.function
    def critic_step(self, real):
        z = tf.random.normal([BATCH, LATENT])
        fake = self.g(z, training=True)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.softplus(self.d(fake, training=True)))
            loss += tf.reduce_mean(tf.nn.softplus(-self.d(real, training=True)))
        grads = tape.gradient(loss, self.d.trainable_variables)
        self.d_opt.apply_gradients(zip(grads, self.d.trainable_variables))
        return loss

    @tf.function
    def penalty_step(self, real):
        with tf.GradientTape() as tape:
            with tf.GradientTape() as inner:
                inner.watch(real)
                score = tf.reduce_sum(self.d(real, training=True))
            slope = inner.gradient(score, real)
            r1 = tf.reduce_mean(tf.reduce_sum(tf.square(slope), axis=[1, 2, 3]))
            loss = 0.5 * R1_GAMMA * R1_EVERY * r1
        grads = tape.gradient(loss, self.d.trainable_variables)
        grads = [
            tf.zeros_like(v) if g is None else g for g, v in zip(grads, self.d.trainable_variables)
        ]
        self.d_opt.apply_gradients(zip(grads, self.d.trainable_variables))
        return r1

    @tf.function
    def generator_step(self):
        z = tf.random.normal([BATCH, LATENT])
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.softplus(-self.d(self.g(z, training=True), training=True)))
        grads = tape.gradient(loss, self.g.trainable_variables)
        self.g_opt.apply_gradients(zip(grads, self.g.trainable_variables))
        for s, v in zip(self.g_smooth.weights, self.g.weights):
            s.assign(0.99 * s + 0.01 * v)
        return loss


def main():
    data = cloths(2000)
    ds = iter(
        tf.data.Dataset.from_tensor_slices(data).repeat().shuffle(2000).batch(BATCH).prefetch(2)
    )
    gan = BatikGAN()
    fixed = tf.random.normal([16, LATENT])
    r1 = tf.constant(0.0)
    for step in range(1, STEPS + 1):
        real = next(ds)
        d_loss = gan.critic_step(real)
        if step % R1_EVERY == 0:
            r1 = gan.penalty_step(real)
        g_loss = gan.generator_step()
        if step % 40 == 0:
            sample = gan.g_smooth(fixed, training=False)
            print(
                f"{step:4d} d {float(d_loss):.3f} g {float(g_loss):.3f} r1 {float(r1):.3f} "
                f"spread {float(tf.math.reduce_std(sample)):.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
