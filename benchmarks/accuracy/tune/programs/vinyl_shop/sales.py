"""Synthetic purchases of a record shop."""

import numpy as np

CUSTOMERS = 6000
RECORDS = 12000


class Sales:
    def __init__(self, seed, per_customer=20):
        rng = np.random.default_rng(seed)
        taste = rng.normal(size=(CUSTOMERS, 8))
        style = rng.normal(size=(RECORDS, 8))
        fame = rng.gumbel(size=RECORDS)
        rows = []
        for c in range(CUSTOMERS):
            seen = rng.integers(0, RECORDS, 400)
            like = style[seen] @ taste[c] + fame[seen] + rng.gumbel(size=400)
            rows.append(seen[np.argsort(-like)[: per_customer + 1]])
        bought = np.array(rows, dtype=np.int32)
        self.last = bought[:, 0].copy()
        self.history = bought[:, 1:]
        self.rng = np.random.default_rng(seed + 1)

    def pairs(self):
        who = np.repeat(np.arange(CUSTOMERS, dtype=np.int32), self.history.shape[1])
        return who, self.history.reshape(-1)
