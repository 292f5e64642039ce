import numpy as np
import tensorflow as tf


class SlideBox:
    """Crossed-polar look of minerals: twinning stripes, cleavage, grain mosaics."""

    def __init__(self, n_minerals, side=48, seed=0):
        self.rng = np.random.default_rng(seed)
        self.side = side
        self.freq = self.rng.uniform(2, 9, n_minerals)
        self.aspect = self.rng.uniform(0.2, 1.0, n_minerals)
        self.tint = self.rng.uniform(0.2, 1.0, (n_minerals, 3))

    def cut(self, n):
        g = np.linspace(-1, 1, self.side)
        gx, gy = np.meshgrid(g, g)
        y = self.rng.integers(0, len(self.freq), n)
        ang = self.rng.uniform(0, np.pi, n)[:, None, None]
        u = np.cos(ang) * gx + np.sin(ang) * gy
        v = -np.sin(ang) * gx + np.cos(ang) * gy
        f, a = self.freq[y][:, None, None], self.aspect[y][:, None, None]
        tone = np.sin(np.pi * f * u) * np.cos(np.pi * f * a * v)
        img = tone[..., None] * self.tint[y][:, None, None, :]
        img = img + 0.35 * self.rng.normal(size=img.shape)
        return img.astype("float32"), y.astype("int32")


def stream(x, y, batch, seed):
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    ds = ds.shuffle(len(x), seed=seed).repeat().batch(batch, drop_remainder=True)
    return ds.prefetch(2)
