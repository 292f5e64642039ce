"""A VAE over drawn orchid outlines; KL weight and batch size both grow during training."""

import numpy as np
import tensorflow as tf

SIDE = 32
LATENT = 12
STAGES = [(64, 500), (128, 450), (256, 400)]  # batch size, steps
WARM = 600


def draw(n, seed=0):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[:SIDE, :SIDE] / (SIDE / 2) - 1
    r, th = np.hypot(xx, yy), np.arctan2(yy, xx)
    images = np.empty((n, SIDE, SIDE, 1), np.float32)
    for i in range(n):
        petals = rng.integers(3, 7)
        edge = rng.uniform(0.45, 0.7) + rng.uniform(0.1, 0.25) * np.cos(
            petals * th + rng.uniform(0, 6.3)
        )
        images[i, ..., 0] = 1 / (1 + np.exp((r - edge) * 18))
    return images


class Vae(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.down = tf.keras.Sequential(
            [
                tf.keras.Input((SIDE, SIDE, 1)),
                tf.keras.layers.Conv2D(16, 3, strides=2, padding="same", activation="relu"),
                tf.keras.layers.Conv2D(32, 3, strides=2, padding="same", activation="relu"),
                tf.keras.layers.Flatten(),
                tf.keras.layers.Dense(2 * LATENT),
            ]
        )
        self.up = tf.keras.Sequential(
            [
                tf.keras.Input((LATENT,)),
                tf.keras.layers.Dense(8 * 8 * 32, activation="relu"),
                tf.keras.layers.Reshape((8, 8, 32)),
                tf.keras.layers.Conv2DTranspose(
                    16, 3, strides=2, padding="same", activation="relu"
                ),
                tf.keras.layers.Conv2DTranspose(1, 3, strides=2, padding="same"),
            ]
        )

    def terms(self, x):
        mean, logvar = tf.split(self.down(x), 2, axis=1)
        z = mean + tf.exp(0.5 * logvar) * tf.random.normal(tf.shape(mean))
        logits = self.up(z)
        fit = tf.reduce_sum(
            tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits), [1, 2, 3]
        )
        kl = 0.5 * tf.reduce_sum(tf.exp(logvar) + mean**2 - 1 - logvar, 1)
        return tf.reduce_mean(fit), tf.reduce_mean(kl)


def main():
    tf.keras.utils.set_random_seed(4)
    images, held = draw(6000), tf.constant(draw(512, 1))
    model = Vae()
    opt = tf.keras.optimizers.Adam(1e-3)
    opt.build(model.trainable_variables)

    @tf.function(input_signature=[tf.TensorSpec((None, SIDE, SIDE, 1)), tf.TensorSpec(())])
    def train_step(x, beta):
        with tf.GradientTape() as tape:
            fit, kl = model.terms(x)
            loss = fit + beta * kl
        grads = tape.gradient(loss, model.trainable_variables)
        opt.apply_gradients(zip(grads, model.trainable_variables))
        return fit, kl

    @tf.function
    def held_out():
        return model.terms(held)

    done = 0
    base = tf.data.Dataset.from_tensor_slices(images).shuffle(6000, seed=1).repeat()
    for batch, steps in STAGES:
        for x in base.batch(batch).take(steps).prefetch(2):
            beta = min(1.0, done / WARM)
            fit, kl = train_step(x, beta)
            done += 1
            if done % 150 == 0:
                a, b = held_out()
                print(
                    f"{done} batch {batch} beta {beta:.2f} fit {float(fit):.1f} "
                    f"kl {float(kl):.1f} held out {float(a + b):.1f}"
                )


if __name__ == "__main__":
    main()
