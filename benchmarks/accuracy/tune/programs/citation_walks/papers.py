"""Synthetic citation network: papers, authors and who cites whom."""

import numpy as np


class Paper:
    def __init__(self, ident, field, year):
        self.ident = ident
        self.field = field
        self.year = year
        self.cites = []
        self.authors = []
        self.meta = {"venue": f"v{ident % 40}", "pages": [ident, ident + 9]}


class Library:
    """All papers with their references, kept as plain objects."""

    def __init__(self, count, fields, features, seed):
        rng = np.random.default_rng(seed)
        self.fields = fields
        field = rng.integers(0, fields, size=count)
        self.papers = [Paper(i, int(field[i]), 1980 + i * 40 // count) for i in range(count)]
        by_field = [np.flatnonzero(field == f) for f in range(fields)]
        for paper in self.papers:
            own = by_field[paper.field]
            refs = rng.choice(own, size=5).tolist()
            refs += rng.integers(0, count, size=3).tolist()
            paper.cites = [{"to": self.papers[r], "weight": 1.0 + (r % 3)} for r in refs]
            paper.authors = [("a", int(a)) for a in rng.integers(0, count // 4, size=2)]
        centers = rng.normal(size=(fields, features)) * 0.35
        self.features = (centers[field] + rng.normal(size=(count, features))).astype(np.float32)
        self.labels = field.astype(np.int32)
