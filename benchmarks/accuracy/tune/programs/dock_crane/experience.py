"""Experience of the crane, drawn in proportion to how surprising it was."""

from collections import namedtuple

import numpy as np

Move = namedtuple("Move", "state action reward after done")


class Experience:
    def __init__(self, room, seed, power=0.6):
        self.room = room
        self.power = power
        self.rng = np.random.default_rng(seed)
        self.moves = []
        self.surprise = []
        self.at = 0

    def __len__(self):
        return len(self.moves)

    def add(self, move):
        top = self.surprise[self.at - 1] if self.moves else 1.0
        if len(self.moves) < self.room:
            self.moves.append(move)
            self.surprise.append(top)
        else:
            self.moves[self.at] = move
            self.surprise[self.at] = top
        self.at = (self.at + 1) % self.room

    def draw(self, size):
        weight = np.array([(abs(s) + 1e-3) ** self.power for s in self.surprise])
        p = weight / weight.sum()
        rows = self.rng.choice(len(p), size=size, p=p)
        chosen = [self.moves[r] for r in rows]
        scale = (len(p) * p[rows]) ** -0.4
        return (
            rows,
            Move(*(np.stack(c) for c in zip(*chosen))),
            (scale / scale.max()).astype(np.float32),
        )

    def update(self, rows, errors):
        for r, e in zip(rows, errors):
            self.surprise[r] = e
