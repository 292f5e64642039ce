import numpy as np


class TubeCity:
    """Random geometric graph with a ring line."""

    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.xy = rng.uniform(size=(n, 2))
        d = np.linalg.norm(self.xy[:, None] - self.xy[None], axis=2)
        a = (d < 0.17) & (d > 0)
        ring = np.arange(n)
        a[ring, np.roll(ring, 1)] = a[np.roll(ring, 1), ring] = True
        self.adj = a.astype("float32")
        self.norm = self.adj / self.adj.sum(1, keepdims=True)
        self.n = n

    def spread(self, field, rounds):
        for _ in range(rounds):
            field = 0.5 * field + 0.5 * field @ self.norm.T
        return field
