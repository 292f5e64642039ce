"""
glyph_gan -- DCGAN on synthetic pen-stroke glyphs.

The critic also sees older samples drawn from a history of generated glyphs,
which keeps it from forgetting (Shrivastava et al., 2017).
"""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers as L

SIZE = 28
LATENT = 32
BATCH = 48
ITERS = 850
EMA = 0.995


def draw_glyphs(n, seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:SIZE, 0:SIZE].astype("float32")
    out = np.zeros((n, SIZE, SIZE, 1), "float32")
    for i in range(n):
        canvas = np.zeros((SIZE, SIZE), "float32")
        for _ in range(rng.integers(2, 4)):
            (x0, y0), (x1, y1) = rng.uniform(5, 23, (2, 2))
            dx, dy = x1 - x0, y1 - y0
            t = ((xx - x0) * dx + (yy - y0) * dy) / (dx * dx + dy * dy + 1e-6)
            t = np.clip(t, 0, 1)
            dist = np.hypot(xx - (x0 + t * dx), yy - (y0 + t * dy))
            canvas = np.maximum(canvas, np.exp(-((dist / 1.2) ** 2)))
        out[i, ..., 0] = canvas * 2 - 1
    return out


def make_generator():
    return keras.Sequential(
        [
            keras.Input((LATENT,)),
            L.Dense(7 * 7 * 24),
            L.LeakyReLU(0.2),
            L.Reshape((7, 7, 24)),
            L.Conv2DTranspose(16, 4, strides=2, padding="same"),
            L.LeakyReLU(0.2),
            L.Conv2DTranspose(1, 4, strides=2, padding="same", activation="tanh"),
        ],
        name="generator",
    )


def make_critic():
    x = inp = keras.Input((SIZE, SIZE, 1))
    taps = []
    for width in (16, 24):
        x = L.Conv2D(width, 4, strides=2, padding="same")(x)
        x = L.LeakyReLU(0.2)(x)
        taps.append(L.GlobalAveragePooling2D()(x))
    x = L.Flatten()(x)
    return keras.Model(inp, [L.Dense(1)(x)] + taps, name="critic")


class GlyphHistory:
    """Generated glyphs of the run so far."""

    def __init__(self, seed):
        self.images = np.zeros((0, SIZE, SIZE, 1), "float32")
        self.rng = np.random.default_rng(seed)

    def add(self, batch):
        self.images = np.concatenate([self.images, batch], axis=0)

    def mix(self, batch):
        """Replaces half of the batch by older glyphs."""
        if len(self.images) < 4 * BATCH:
            return batch
        half = len(batch) // 2
        rows = self.rng.integers(0, len(self.images), half)
        return np.concatenate([batch[:half], self.images[rows]], axis=0)


keras.utils.set_random_seed(21)
gen, shadow, critic = make_generator(), make_generator(), make_critic()
shadow.set_weights(gen.get_weights())
g_opt = keras.optimizers.Adam(2e-4, beta_1=0.5)
c_opt = keras.optimizers.Adam(2e-4, beta_1=0.5)
g_opt.build(gen.trainable_variables)
c_opt.build(critic.trainable_variables)
bce = tf.nn.sigmoid_cross_entropy_with_logits


@tf.function
def critic_step(real, fake):
    with tf.GradientTape() as tape:
        on_real = critic(real, training=True)[0]
        on_fake = critic(fake, training=True)[0]
        loss = tf.reduce_mean(bce(labels=0.9 * tf.ones_like(on_real), logits=on_real))
        loss += tf.reduce_mean(bce(labels=tf.zeros_like(on_fake), logits=on_fake))
    grads = tape.gradient(loss, critic.trainable_variables)
    c_opt.apply_gradients(zip(grads, critic.trainable_variables))
    return loss


def generator_step(real):
    noise = tf.random.normal((BATCH, LATENT))
    with tf.GradientTape() as tape:
        fake = gen(noise, training=True)
        score, *feats = critic(fake, training=True)
        _, *wanted = critic(real, training=True)
        loss = tf.reduce_mean(bce(labels=tf.ones_like(score), logits=score))
        for f, w in zip(feats, wanted):
            gap = tf.reduce_mean(f, axis=0) - tf.stop_gradient(tf.reduce_mean(w, axis=0))
            loss += 0.5 * tf.reduce_mean(tf.square(gap))
    grads = tape.gradient(loss, gen.trainable_variables)
    g_opt.apply_gradients(zip(grads, gen.trainable_variables))
    for s, w in zip(shadow.trainable_variables, gen.trainable_variables):
        s.assign(EMA * s + (1.0 - EMA) * w)
    return loss


@tf.function
def sample(noise):
    return gen(noise, training=False)


def save_sheet(path, images, cols=8):
    rows = [
        np.concatenate(list(images[r : r + cols, ..., 0]), axis=1)
        for r in range(0, len(images), cols)
    ]
    sheet = np.concatenate(rows, axis=0)
    data = ((sheet + 1) * 127.5).clip(0, 255).astype("uint8")[..., None]
    tf.io.write_file(path, tf.io.encode_png(data))


def train():
    glyphs = draw_glyphs(4000, seed=4)
    stream = iter(
        tf.data.Dataset.from_tensor_slices(glyphs)
        .shuffle(4000, seed=1)
        .repeat()
        .batch(BATCH, drop_remainder=True)
        .prefetch(2)
    )
    history = GlyphHistory(seed=8)
    fixed = tf.random.normal((32, LATENT), seed=99)

    for it in range(1, ITERS + 1):
        real = next(stream)
        fresh = sample(tf.random.normal((BATCH, LATENT))).numpy()
        c_loss = critic_step(real, tf.constant(history.mix(fresh)))
        history.add(fresh)
        g_loss = generator_step(real)
        if it % 200 == 0:
            print(f"iter {it}: critic {float(c_loss):.3f}  generator {float(g_loss):.3f}")
            save_sheet(f"sheet_{it:04d}.png", shadow(fixed, training=False).numpy())
    shadow.save_weights("shadow.weights.h5")


if __name__ == "__main__":
    train()
