"""Batches of papers with sampled first and second neighbours."""

import gc
import random

import numpy as np


class NeighbourSampler:
    def __init__(self, library, batch, fan_out, seed):
        self.library = library
        self.batch = batch
        self.fan_out = fan_out
        self.random = random.Random(seed)

    def _pick(self, paper):
        edges = self.random.choices(paper.cites, k=self.fan_out)
        return [edge["to"] for edge in edges]

    def gather(self, idents):
        """Arrays of features: targets, one hop, two hops."""
        papers = [self.library.papers[i] for i in idents]
        first, second = [], []
        for paper in papers:
            near = self._pick(paper)
            first.append([p.ident for p in near])
            second.append([[q.ident for q in self._pick(p)] for p in near])
        table = self.library.features
        out = (
            table[idents],
            table[np.asarray(first)],
            table[np.asarray(second)],
            self.library.labels[idents],
        )
        del papers, first, second
        gc.collect()
        return out

    def epoch(self, idents):
        order = list(idents)
        self.random.shuffle(order)
        for i in range(0, len(order) - self.batch + 1, self.batch):
            yield self.gather(np.asarray(order[i : i + self.batch]))
