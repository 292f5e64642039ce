import numpy as np


def swatches(n, side, seed):
    """Two thread grids laid over one another give the moire."""
    rng = np.random.default_rng(seed)
    g = np.arange(side)
    xx, yy = np.meshgrid(g, g)
    k1 = rng.uniform(0.6, 1.6, (n, 1, 1))
    k2 = k1 + rng.uniform(-0.3, 0.3, (n, 1, 1))
    tilt = rng.uniform(-0.4, 0.4, (n, 1, 1))
    a = np.sin(k1 * xx)
    b = np.sin(k2 * (xx * np.cos(tilt) + yy * np.sin(tilt)))
    shine = rng.uniform(0.5, 1.0, (n, 1, 1))
    return (shine * a * b).astype("float32")[..., None]
