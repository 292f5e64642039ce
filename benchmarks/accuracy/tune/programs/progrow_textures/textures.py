import numpy as np
import tensorflow as tf


def woven_textures(count, size, seed):
    """Two crossed gratings with random angle and period, in [-1, 1]."""
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:size, 0:size].astype(np.float32)
    angle = rng.uniform(0, np.pi, (count, 1, 1))
    period = rng.uniform(5, 14, (count, 1, 1))
    u = xx * np.cos(angle) + yy * np.sin(angle)
    v = -xx * np.sin(angle) + yy * np.cos(angle)
    img = 0.6 * np.sin(2 * np.pi * u / period) + 0.4 * np.sin(2 * np.pi * v / (period * 0.7))
    return img.astype(np.float32)[..., None]


def dataset_at(images, resolution, batch, seed):
    """Shuffled, endless batches of the pictures at one resolution."""
    small = tf.image.resize(images, (resolution, resolution), method="area")
    return (
        tf.data.Dataset.from_tensor_slices(small)
        .shuffle(len(images), seed=seed)
        .repeat()
        .batch(batch, drop_remainder=True)
        .prefetch(2)
    )
