"""Things every long-running session gets for free."""

import tempfile

import tensorflow as tf


class Smoothed:
    def __init__(self, decay):
        self.decay, self.value, self.n = decay, 0.0, 0

    def add(self, x):
        self.n += 1
        self.value = self.decay * self.value + (1 - self.decay) * x
        return self.value / (1 - self.decay**self.n)


class KeepsBest:
    """Mixin: whoever sets `standing` has the best weights on file."""

    patience_rounds = 0

    def prepare_keeping(self, **objects):
        self.folder = tempfile.mkdtemp(prefix="onsen_")
        self._ckpt = tf.train.Checkpoint(**objects)
        self._manager = tf.train.CheckpointManager(self._ckpt, self.folder, max_to_keep=2)
        self._best = float("-inf")
        self._since = 0
        self._standing = None

    @property
    def standing(self):
        return self._standing

    @standing.setter
    def standing(self, value):
        self._standing = value
        self._since += 1
        if value > self._best and self._since > self.patience_rounds:
            self._best = value
            self._since = 0
            self._manager.save()
