"""Things to keep an eye on while the forecaster trains."""

import csv
import time

import keras
import numpy as np


class WeightWatch(keras.callbacks.Callback):
    """Keeps the conditioning of the kernels in a CSV file."""

    def __init__(self, path):
        super().__init__()
        self.path = path
        self.latest = {}

    def on_train_begin(self, logs=None):
        self.file = open(self.path, "w", newline="")
        self.writer = csv.writer(self.file)
        self.writer.writerow(["kernel", "largest", "smallest", "rank"])

    def _measure(self):
        for layer in self.model.layers:
            if not hasattr(layer, "kernel"):
                continue
            kernel = np.asarray(layer.kernel)
            flat = kernel.reshape(-1, kernel.shape[-1])
            values = np.linalg.svd(flat, compute_uv=False)
            rank = int((values > 0.05 * values[0]).sum())
            self.latest[layer.name] = (values[0], values[-1], rank)
            self.writer.writerow([layer.name, values[0], values[-1], rank])

    def on_train_batch_end(self, batch, logs=None):
        self._measure()

    def on_epoch_end(self, epoch, logs=None):
        worst = max(self.latest.items(), key=lambda kv: kv[1][0])
        print(f"  largest singular value {worst[1][0]:.2f} in {worst[0]}")
        self.file.flush()

    def on_train_end(self, logs=None):
        self.file.close()


class Pace(keras.callbacks.Callback):
    """Prints one line per epoch."""

    def on_epoch_begin(self, epoch, logs=None):
        self.began = time.time()

    def on_epoch_end(self, epoch, logs=None):
        text = "  ".join(f"{k} {float(v):.4f}" for k, v in logs.items())
        print(f"epoch {epoch + 1:2d}  {text}  {time.time() - self.began:.1f}s", flush=True)
