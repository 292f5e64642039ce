import numpy as np


class Ryokan:
    """Guests with hidden tastes; each valve mixes sources to a temperature/mineral pair."""

    def __init__(self, n_guests, n_context, n_valves, seed=0):
        self.rng = np.random.default_rng(seed)
        self.taste = self.rng.normal(size=(n_guests, 4)).astype("float32")
        self.weather = self.rng.normal(size=(n_context, 4)).astype("float32") * 0.3
        self.valves = self.rng.normal(size=(n_valves, 4)).astype("float32")
        self.n_guests = n_guests
        self.n_context = n_context
        # regulars come far more often
        self.weights = 1.0 / np.arange(1, n_guests + 1) ** 0.8
        self.cdf = np.cumsum(self.weights / self.weights.sum())

    def arrivals(self, n):
        ids = np.searchsorted(self.cdf, self.rng.random(n)).clip(0, self.n_guests - 1)
        ctx = self.rng.normal(size=(n, self.n_context)).astype("float32")
        return ids.astype("int32"), ctx

    def comfort(self, ids, ctx, valve):
        wish = self.taste[ids] + ctx @ self.weather
        gap = ((wish - self.valves[valve]) ** 2).mean(axis=1)
        noise = 0.1 * self.rng.normal(size=len(ids))
        return (np.exp(-gap / 2) + noise).astype("float32")
