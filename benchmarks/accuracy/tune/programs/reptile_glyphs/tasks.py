"""Synthetic few-shot glyph tasks (Omniglot-like strokes, drawn with numpy)."""

import numpy as np


def _draw_glyph(rng, size):
    """A glyph is a handful of smooth random strokes rasterised with a soft pen."""
    grid = np.stack(np.meshgrid(np.arange(size), np.arange(size), indexing="ij"), -1)
    image = np.zeros((size, size), np.float32)
    for _ in range(rng.integers(2, 5)):
        anchors = rng.uniform(0.15, 0.85, size=(3, 2)) * size
        t = np.linspace(0.0, 1.0, 24)[:, None]
        curve = (1 - t) ** 2 * anchors[0] + 2 * t * (1 - t) * anchors[1] + t**2 * anchors[2]
        dist = np.linalg.norm(grid[:, :, None, :] - curve[None, None], axis=-1).min(-1)
        image = np.maximum(image, np.exp(-((dist / 1.3) ** 2)))
    return image.astype(np.float32)


class GlyphBank:
    def __init__(self, num_classes, size=28, seed=0):
        rng = np.random.default_rng(seed)
        self.size = size
        self.prototypes = np.stack([_draw_glyph(rng, size) for _ in range(num_classes)])

    def __len__(self):
        return len(self.prototypes)

    def render(self, rng, class_id, count):
        proto = self.prototypes[class_id]
        shifts = rng.integers(-3, 4, size=(count, 2))
        out = np.stack([np.roll(proto, tuple(s), axis=(0, 1)) for s in shifts])
        out += rng.normal(0.0, 0.12, size=out.shape).astype(np.float32)
        return out[..., None]


class TaskSampler:
    """Draws N-way tasks from a range of class ids."""

    def __init__(self, bank, class_ids, ways, shots, queries, seed):
        self.bank = bank
        self.class_ids = np.asarray(class_ids)
        self.ways, self.shots, self.queries = ways, shots, queries
        self.rng = np.random.default_rng(seed)

    def sample(self):
        chosen = self.rng.choice(self.class_ids, self.ways, replace=False)
        support_x, support_y, query_x, query_y = [], [], [], []
        for label, class_id in enumerate(chosen):
            images = self.bank.render(self.rng, class_id, self.shots + self.queries)
            support_x.append(images[: self.shots])
            query_x.append(images[self.shots :])
            support_y += [label] * self.shots
            query_y += [label] * self.queries
        return (
            np.concatenate(support_x),
            np.asarray(support_y, np.int32),
            np.concatenate(query_x),
            np.asarray(query_y, np.int32),
        )
