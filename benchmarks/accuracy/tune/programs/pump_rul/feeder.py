"""Background preparation of training batches."""

import collections
import threading
import time

import numpy as np


class BatchFeeder(threading.Thread):
    """Cuts random windows out of the histories, a few batches ahead of the trainer."""

    def __init__(self, fleet, window, batch_size, depth=8, seed=0):
        super().__init__(daemon=True, name="batch-feeder")
        self.fleet = fleet
        self.window = window
        self.batch_size = batch_size
        self.depth = depth
        self.rng = np.random.default_rng(seed)
        self.ready = collections.deque()
        self.halted = threading.Event()

    def _make_batch(self):
        x = np.empty((self.batch_size, self.window, self.fleet[0][0].shape[1]), np.float32)
        y = np.empty((self.batch_size,), np.float32)
        pumps = self.rng.integers(0, len(self.fleet), self.batch_size)
        for i, k in enumerate(pumps):
            signals, rul = self.fleet[k]
            start = self.rng.integers(0, len(signals) - self.window)
            x[i] = signals[start : start + self.window]
            y[i] = rul[start + self.window - 1]
        x += self.rng.normal(0, 0.02, x.shape)
        return x, y

    def run(self):
        while not self.halted.is_set():
            if len(self.ready) >= self.depth:
                continue
            self.ready.append(self._make_batch())

    def next(self, timeout=30.0):
        deadline = time.monotonic() + timeout
        while not self.ready:
            if time.monotonic() > deadline:
                raise TimeoutError("no batch within %.0f s" % timeout)
            time.sleep(0.0005)
        return self.ready.popleft()

    def stop(self):
        self.halted.set()
        self.join()
