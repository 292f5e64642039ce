import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.keras import Sequential, layers, optimizers

OUT = tempfile.mkdtemp(prefix="ring_gan_")
Z = 64
BATCH = 64
STEPS = 620
POOL_FROM = 200
SNAPSHOT_EVERY = 80


def draw_rings(n, seed=0):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:28, 0:28].astype("float32")
    cx, cy = rng.uniform(10, 18, (2, n, 1, 1))
    rad = rng.uniform(4, 9, (n, 1, 1))
    thick = rng.uniform(0.8, 2.0, (n, 1, 1))
    dist = np.sqrt((xx - cx) ** 2 + (yy - cy) ** 2)
    img = np.exp(-(((dist - rad) / thick) ** 2)) * 2 - 1
    return img[..., None].astype("float32")


def make_generator():
    return Sequential(
        [
            layers.Input((Z,)),
            layers.Dense(7 * 7 * 128, use_bias=False),
            layers.BatchNormalization(),
            layers.LeakyReLU(),
            layers.Reshape((7, 7, 128)),
            layers.Conv2DTranspose(32, 4, strides=2, padding="same", use_bias=False),
            layers.BatchNormalization(),
            layers.LeakyReLU(),
            layers.Conv2DTranspose(16, 4, strides=2, padding="same", use_bias=False),
            layers.BatchNormalization(),
            layers.LeakyReLU(),
            layers.Conv2D(1, 3, padding="same", activation="tanh"),
        ],
        name="generator",
    )


def make_discriminator():
    return Sequential(
        [
            layers.Input((28, 28, 1)),
            layers.Conv2D(16, 4, strides=2, padding="same"),
            layers.LeakyReLU(0.2),
            layers.Conv2D(32, 4, strides=2, padding="same"),
            layers.LeakyReLU(0.2),
            layers.Flatten(),
            layers.Dropout(0.3),
            layers.Dense(1),
        ],
        name="discriminator",
    )


G, D = make_generator(), make_discriminator()
g_opt = optimizers.Adam(2e-4, beta_1=0.5)
d_opt = optimizers.Adam(2e-4, beta_1=0.5)
g_opt.build(G.trainable_variables)
d_opt.build(D.trainable_variables)


@tf.function
def train_step(real, replayed):
    noise = tf.random.normal([BATCH, Z])
    with tf.GradientTape() as gt, tf.GradientTape() as dt:
        fake = G(noise, training=True)
        real_out = D(real, training=True)
        fake_out = D(fake, training=True)
        old_out = D(replayed, training=True)
        d_loss = tf.reduce_mean(tf.nn.softplus(-real_out)) + tf.reduce_mean(
            tf.nn.softplus(tf.concat([fake_out, old_out], 0))
        )
        g_loss = tf.reduce_mean(tf.nn.softplus(-fake_out))
    g_opt.apply_gradients(zip(gt.gradient(g_loss, G.trainable_variables), G.trainable_variables))
    d_opt.apply_gradients(zip(dt.gradient(d_loss, D.trainable_variables), D.trainable_variables))
    return fake, g_loss, d_loss


class FakePool:
    """Earlier generator output, shown to the discriminator again."""

    def __init__(self):
        self.images = None

    def push(self, fake):
        if self.images is None:
            self.images = fake
        else:
            self.images = tf.concat([self.images, fake], axis=0)

    def draw(self, n):
        return tf.random.shuffle(self.images)[:n]


def write_pgm(path, image):
    h, w = image.shape[0], image.shape[1]
    rows = []
    for y in range(h):
        rows.append(" ".join(str(int(image[y, x] * 127.5 + 127.5)) for x in range(w)))
    with open(path, "w") as f:
        f.write(f"P2\n{w} {h}\n255\n" + "\n".join(rows) + "\n")


def snapshot(step, noise):
    imgs = G(noise, training=False)
    grid = tf.reshape(imgs, (4, 4, 28, 28))
    grid = tf.reshape(tf.transpose(grid, (0, 2, 1, 3)), (112, 112))
    write_pgm(os.path.join(OUT, f"step_{step:05d}.pgm"), grid)


def main():
    tf.random.set_seed(11)
    images = draw_rings(6000)
    data = (
        tf.data.Dataset.from_tensor_slices(images)
        .shuffle(6000, seed=2)
        .repeat()
        .batch(BATCH, drop_remainder=True)
        .prefetch(2)
    )
    fixed = tf.random.normal([16, Z], seed=4)
    pool = FakePool()
    replayed = tf.fill([BATCH // 2, 28, 28, 1], -1.0)
    for step, real in enumerate(data.take(STEPS), start=1):
        fake, g_loss, d_loss = train_step(real, replayed)
        if step >= POOL_FROM:
            pool.push(fake)
            replayed = pool.draw(BATCH // 2)
        if step % SNAPSHOT_EVERY == 0:
            snapshot(step, fixed)
        if step % 50 == 0:
            print(f"[{step}/{STEPS}] g {float(g_loss):.3f} d {float(d_loss):.3f}")
    G.save_weights(os.path.join(OUT, "generator.weights.h5"))
    print("samples in", OUT)


if __name__ == "__main__":
    main()
