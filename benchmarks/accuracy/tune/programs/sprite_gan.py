"""Small GAN for 24x24 game sprites, train_on_batch style."""

import gc
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

SIDE = 24
LATENT = 48
BATCH = 64
STEPS = 190


def make_sprites(n, seed=0):
    """Blobs mirrored left/right with an outline, roughly like the invader sheet."""
    rng = np.random.default_rng(seed)
    half = rng.random((n, SIDE // 4, SIDE // 8)) > 0.55
    body = np.concatenate([half, half[:, :, ::-1]], axis=2)
    img = body.repeat(4, axis=1).repeat(4, axis=2).astype(np.float32)
    img = img * rng.uniform(0.6, 1.0, (n, 1, 1)).astype(np.float32)
    return (img * 2 - 1)[..., None]


def build_generator():
    return keras.Sequential(
        [
            keras.Input((LATENT,)),
            layers.Dense(6 * 6 * 64),
            layers.LeakyReLU(0.2),
            layers.Reshape((6, 6, 64)),
            layers.Conv2DTranspose(48, 4, strides=2, padding="same"),
            layers.LeakyReLU(0.2),
            layers.Conv2DTranspose(24, 4, strides=2, padding="same"),
            layers.LeakyReLU(0.2),
            layers.Conv2D(1, 3, padding="same", activation="tanh"),
        ],
        name="generator",
    )


def build_discriminator():
    return keras.Sequential(
        [
            keras.Input((SIDE, SIDE, 1)),
            layers.Conv2D(32, 4, strides=2, padding="same"),
            layers.LeakyReLU(0.2),
            layers.Conv2D(64, 4, strides=2, padding="same"),
            layers.LeakyReLU(0.2),
            layers.Dropout(0.3),
            layers.Flatten(),
            layers.Dense(1),
        ],
        name="discriminator",
    )


class SpriteGan:
    def __init__(self):
        self.rng = np.random.default_rng(7)
        self.generator = build_generator()
        self.discriminator = build_discriminator()
        bce = keras.losses.BinaryCrossentropy(from_logits=True)
        self.discriminator.compile(optimizer=keras.optimizers.Adam(2e-4, beta_1=0.5), loss=bce)
        frozen = keras.models.clone_model(self.discriminator)
        frozen.trainable = False
        self.critic_copy = frozen
        self.stacked = keras.Sequential([keras.Input((LATENT,)), self.generator, frozen])
        self.stacked.compile(optimizer=keras.optimizers.Adam(4e-4, beta_1=0.5), loss=bce)
        self.real_y = np.full((BATCH, 1), 0.9, np.float32)
        self.fake_y = np.zeros((BATCH, 1), np.float32)

    def noise(self, n=BATCH):
        return self.rng.normal(size=(n, LATENT)).astype(np.float32)

    def critic_round(self, real):
        fake = self.generator.predict(self.noise(), batch_size=16, verbose=0)
        d_real = self.discriminator.train_on_batch(real, self.real_y)
        d_fake = self.discriminator.train_on_batch(fake, self.fake_y)
        return 0.5 * (float(d_real) + float(d_fake))

    def generator_round(self):
        for src, dst in zip(self.discriminator.weights, self.critic_copy.weights):
            dst.assign(src)
        return float(self.stacked.train_on_batch(self.noise(), self.real_y))


class SheetBook:
    """Attributes of every sprite; used later to caption the contact sheets."""

    def __init__(self, sprites):
        self.cards = [
            {
                "id": i,
                "fill": float(s.mean()),
                "tags": ["sprite", str(i % 16)],
                "box": [0, 0, SIDE, SIDE],
            }
            for i, s in enumerate(sprites)
        ]

    def captions(self, index):
        return [f"{self.cards[i]['id']}:{self.cards[i]['tags'][1]}" for i in index]


def main():
    keras.utils.set_random_seed(2)
    sprites = make_sprites(12_000)
    book = SheetBook(sprites)
    gan = SpriteGan()
    t0 = time.time()
    d_avg = g_avg = 0.0
    for step in range(1, STEPS + 1):
        pick = gan.rng.integers(0, len(sprites), BATCH)
        d_avg = 0.9 * d_avg + 0.1 * gan.critic_round(sprites[pick])
        g_avg = 0.9 * g_avg + 0.1 * gan.generator_round()
        # the GAN used to run out of memory over night on the old box
        if step % 3 == 0:
            gc.collect()
        if step % 25 == 0:
            print(f"step {step} d {d_avg:.3f} g {g_avg:.3f} e.g. {book.captions(pick[:2])}")
    print("%.1f s" % (time.time() - t0))


if __name__ == "__main__":
    main()
