"""Segment sticky tentacle tips of sundews in greenhouse photographs (toy data)."""

import time
from dataclasses import dataclass

import keras
import numpy as np
from keras import layers


@dataclass
class Conf:
    size: int = 80
    train: int = 128
    val: int = 32
    batch: int = 16
    epochs: int = 9
    warp_from: int = 4
    warp_strength: float = 3.0
    seed: int = 77


def make_leaf(size, rng):
    yy, xx = np.mgrid[:size, :size]
    img = rng.normal(0.3, 0.05, (size, size, 3))
    mask = np.zeros((size, size), bool)
    for _ in range(rng.integers(4, 10)):
        cy, cx = rng.integers(6, size - 6, 2)
        r = rng.integers(2, 6)
        blob = (yy - cy) ** 2 + (xx - cx) ** 2 < r * r
        img[blob] = [0.8, 0.2, 0.25] + rng.normal(0, 0.05, 3)
        mask |= blob
    return img.astype("float32"), mask[..., None].astype("float32")


def smooth_field(size, rng, strength):
    coarse = rng.normal(0, strength, (2, 5, 5))
    grid = np.linspace(0, 4, size)
    i0 = np.minimum(grid.astype(int), 3)
    f = grid - i0
    rows = coarse[:, i0] * (1 - f)[None, :, None] + coarse[:, i0 + 1] * f[None, :, None]
    return rows[:, :, i0] * (1 - f) + rows[:, :, i0 + 1] * f


def warp(img, mask, rng, strength):
    size = img.shape[0]
    dy, dx = smooth_field(size, rng, strength)
    out, out_mask = np.empty_like(img), np.empty_like(mask)
    for r in range(size):
        for c in range(size):
            sy = int(min(max(r + dy[r, c], 0), size - 1))
            sx = int(min(max(c + dx[r, c], 0), size - 1))
            out[r, c] = img[sy, sx]
            out_mask[r, c] = mask[sy, sx]
    return out, out_mask


class LeafSequence(keras.utils.PyDataset):
    def __init__(self, images, masks, conf, **kw):
        super().__init__(**kw)
        self.images, self.masks, self.conf = images, masks, conf
        self.rng = np.random.default_rng(conf.seed)
        self.epoch = 0
        self.order = np.arange(len(images))

    def __len__(self):
        return len(self.images) // self.conf.batch

    def on_epoch_end(self):
        self.epoch += 1
        self.rng.shuffle(self.order)

    def __getitem__(self, i):
        take = self.order[i * self.conf.batch : (i + 1) * self.conf.batch]
        xs, ys = self.images[take].copy(), self.masks[take].copy()
        flip = self.rng.random(len(take)) < 0.5
        xs[flip], ys[flip] = xs[flip, :, ::-1], ys[flip, :, ::-1]
        if self.epoch >= self.conf.warp_from:
            for k in range(len(take)):
                xs[k], ys[k] = warp(xs[k], ys[k], self.rng, self.conf.warp_strength)
        return xs, ys


def unet(size):
    inp = keras.Input((size, size, 3))
    a = layers.Conv2D(16, 3, padding="same", activation="relu")(inp)
    b = layers.Conv2D(32, 3, strides=2, padding="same", activation="relu")(a)
    c = layers.Conv2D(48, 3, strides=2, padding="same", activation="relu")(b)
    c = layers.Conv2D(48, 3, padding="same", activation="relu")(c)
    u = layers.Concatenate()([layers.UpSampling2D()(c), b])
    u = layers.Conv2D(32, 3, padding="same", activation="relu")(u)
    u = layers.Concatenate()([layers.UpSampling2D()(u), a])
    u = layers.Conv2D(16, 3, padding="same", activation="relu")(u)
    return keras.Model(inp, layers.Conv2D(1, 1)(u), name="sundew_unet")


def main():
    conf = Conf()
    keras.utils.set_random_seed(conf.seed)
    rng = np.random.default_rng(conf.seed)
    leaves = [make_leaf(conf.size, rng) for _ in range(conf.train + conf.val)]
    x = np.stack([im for im, _ in leaves])
    y = np.stack([m for _, m in leaves])
    train = LeafSequence(x[: conf.train], y[: conf.train], conf)
    model = unet(conf.size)
    model.compile(
        keras.optimizers.Adam(2e-3), loss=keras.losses.BinaryCrossentropy(from_logits=True)
    )
    started = time.time()
    model.fit(
        train,
        epochs=conf.epochs,
        verbose=2,
        shuffle=False,
        validation_data=(x[conf.train :], y[conf.train :]),
    )
    print("train_seconds %.2f" % (time.time() - started))


if __name__ == "__main__":
    main()
