import numpy as np


def make_moulins(n, width=24, seed=0):
    """Advection-dispersion breakthrough curves with storage, standardised."""
    rng = np.random.default_rng(seed)
    t = np.linspace(0.2, 6.0, width)[None, :]
    depth = rng.uniform(0.5, 2.0, (n, 1))
    speed = rng.lognormal(0.0, 0.25, (n, 1))
    disp = rng.uniform(0.05, 0.4, (n, 1))
    tail = rng.uniform(0.0, 0.5, (n, 1))
    c = (
        depth
        / np.sqrt(4 * np.pi * disp * t**3)
        * np.exp(-((depth - speed * t) ** 2) / (4 * disp * t))
    )
    c = c + tail * np.exp(-t / 2.0) * (t > depth / speed)
    c = np.log1p(c) + 0.03 * rng.normal(size=c.shape)
    c = (c - c.mean(0)) / (c.std(0) + 1e-6)
    melt = depth * 0.7 + 0.1 * rng.normal(size=depth.shape)
    ctx = np.concatenate([melt, np.log(speed) + 0.2 * rng.normal(size=speed.shape), tail], axis=1)
    return c.astype("float32"), ctx.astype("float32")


class Batches:
    """Reshuffles every pass, drops the remainder."""

    def __init__(self, x, ctx, size, seed=0):
        self.x, self.ctx, self.size = x, ctx, size
        self.rng = np.random.default_rng(seed)

    def __len__(self):
        return len(self.x) // self.size

    def __iter__(self):
        order = self.rng.permutation(len(self.x))
        for k in range(len(self)):
            pick = order[k * self.size : (k + 1) * self.size]
            yield self.x[pick], self.ctx[pick]
