"""Denoises patches of a large micrograph; no patch may come twice."""

import math
import random

import keras
import numpy as np


class Patches(keras.utils.PyDataset):
    def __init__(self, picture, side, batch, batches, **kwargs):
        super().__init__(**kwargs)
        self.picture, self.side = picture, side
        self.batch, self.batches = batch, batches
        self.used = []
        self.random = random.Random(2)

    def __len__(self):
        return self.batches

    def new_corner(self):
        limit = self.picture.shape[0] - self.side
        while True:
            corner = (self.random.randrange(limit), self.random.randrange(limit))
            if corner not in self.used:
                self.used.append(corner)
                return corner

    def __getitem__(self, index):
        clean = np.empty((self.batch, self.side, self.side, 1), np.float32)
        for k in range(self.batch):
            top, left = self.new_corner()
            clean[k, :, :, 0] = self.picture[top : top + self.side, left : left + self.side]
            if self.random.random() < 0.5:
                clean[k] = clean[k, ::-1]
        noisy = clean + np.random.normal(0, 0.1, clean.shape).astype(np.float32)
        return noisy, clean


def micrograph(size=1500):
    t = np.linspace(0, 40 * math.pi, size)
    waves = np.sin(t)[:, None] * np.cos(1.7 * t)[None, :]
    return (waves + 0.2 * np.random.default_rng(0).normal(size=(size, size))).astype(np.float32)


def denoiser(side):
    noisy = keras.Input((side, side, 1))
    h = keras.layers.Conv2D(16, 3, padding="same", activation="relu")(noisy)
    h = keras.layers.Conv2D(16, 3, padding="same", activation="relu")(h)
    residual = keras.layers.Conv2D(1, 3, padding="same")(h)
    return keras.Model(noisy, keras.layers.Subtract()([noisy, residual]))


model = denoiser(16)
model.compile(keras.optimizers.Adam(1e-3), "mse")
model.fit(Patches(micrograph(), 16, 24, 60), epochs=9, verbose=2)
