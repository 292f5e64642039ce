"""Synthetic cooking instructions with a tag for each word."""

import numpy as np

PAD = 0
VOCAB = 3000
TAGS = 9


class Corpus:
    def __init__(self, count, seed):
        rng = np.random.default_rng(seed)
        self.rng = rng
        self.word_tag = rng.integers(1, TAGS, size=VOCAB)
        lengths = np.clip(rng.gamma(6.0, 2.5, size=count), 5, 26).astype(int)
        self.words, self.tags = [], []
        zipf = 1.0 / np.arange(2, VOCAB + 1)
        zipf /= zipf.sum()
        for n in lengths:
            w = rng.choice(np.arange(1, VOCAB), size=n, p=zipf)
            t = self.word_tag[w].copy()
            # a quantity changes what the next word is
            t[1:] = np.where(t[:-1] == 3, 4, t[1:])
            self.words.append(w.astype(np.int32))
            self.tags.append(t.astype(np.int32))

    def __len__(self):
        return len(self.words)


def pad_rows(rows, width):
    out = np.full((len(rows), width), PAD, dtype=np.int32)
    for i, row in enumerate(rows):
        out[i, : len(row)] = row
    return out


def batches(corpus, size, rng):
    """Endless batches of sentences with about the same length."""
    order = np.argsort([len(w) for w in corpus.words], kind="stable")
    groups = [order[i : i + size] for i in range(0, len(order) - size + 1, size)]
    while True:
        for g in rng.permutation(len(groups)):
            rows = groups[g]
            width = max(len(corpus.words[r]) for r in rows)
            yield (
                pad_rows([corpus.words[r] for r in rows], width),
                pad_rows([corpus.tags[r] for r in rows], width),
            )
