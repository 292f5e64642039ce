"""Sentences, the short ones first."""

import numpy as np
import tensorflow as tf


class Sentences:
    def __init__(self, config, seed=0):
        rng = np.random.default_rng(seed)
        self.config = config
        self.intent = rng.integers(0, config.intents, 6000)
        self.length = rng.integers(3, config.length + 1, 6000)
        self.tokens = rng.integers(1 + config.intents, config.vocabulary, (6000, config.length))
        self.tokens[:, 1] = 1 + self.intent
        self.tokens *= np.arange(config.length)[None] < self.length[:, None]

    def stage(self, longest):
        chosen = self.length <= longest
        data = tf.data.Dataset.from_tensor_slices(
            (self.tokens[chosen][:, :longest].astype("int32"), self.intent[chosen])
        )
        return data.shuffle(6000).repeat().batch(self.config.batch).prefetch(2)
