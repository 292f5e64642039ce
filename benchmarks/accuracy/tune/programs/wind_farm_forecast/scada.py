"""Synthetic ten-minute readings of a wind farm."""

import numpy as np

CHANNELS = 10


def readings(days, turbines, seed):
    rng = np.random.default_rng(seed)
    n = days * 144
    t = np.arange(n)
    wind = 8 + 2.5 * np.sin(2 * np.pi * t / 144) + 1.5 * np.sin(2 * np.pi * t / 1000)
    gust = np.zeros(n)
    kick = rng.normal(size=n)
    for i in range(1, n):
        gust[i] = 0.93 * gust[i - 1] + 0.5 * kick[i]
    wind = np.clip(wind + gust, 0, None)
    farm = np.empty((turbines, n, CHANNELS), dtype=np.float32)
    for k in range(turbines):
        local = np.roll(wind, k) * rng.uniform(0.9, 1.1)
        power = np.clip((local / 12.0) ** 3, 0, 1)
        parts = [local / 10, power, np.roll(power, 1)]
        parts += [
            rng.normal(size=n) * 0.2 + power * rng.uniform(0.2, 1) for _ in range(CHANNELS - 3)
        ]
        farm[k] = np.stack(parts, axis=-1)
    return farm


def windows(farm, history, ahead, count, seed):
    rng = np.random.default_rng(seed)
    turbines, n, _ = farm.shape
    who = rng.integers(0, turbines, size=count)
    at = rng.integers(0, n - history - ahead, size=count)
    x = np.stack([farm[w, a : a + history] for w, a in zip(who, at)])
    y = np.stack([farm[w, a + history : a + history + ahead, 1] for w, a in zip(who, at)])
    return x, y
