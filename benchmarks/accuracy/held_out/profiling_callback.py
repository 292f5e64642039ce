"""Keras's TensorBoard callback profiles a range of batches that somebody once wanted to see.

After report 36 of the catalogue (tensorflow#37876), where `profile_batch` did it unasked.
"""

import tempfile
import time

import injector
import ordinary
import tensorflow as tf

import tbslow

EPOCHS = 4
STEPS_OF_EPOCH = 400
PROFILED = (400, 1200)


class Lap(tf.keras.callbacks.Callback):
    """Times from the end of one batch to that of the next, all other callbacks included."""

    def __init__(self, truth):
        super().__init__()
        self.truth = truth
        self.steps = 0
        self.ended = None

    def on_epoch_begin(self, epoch, logs=None):
        """What lies between two epochs belongs to no batch."""
        self.ended = None

    def on_train_batch_end(self, batch, logs=None):
        """A lap is over."""
        ended = time.perf_counter()
        self.steps += 1
        if self.ended is not None and self.steps > 10:
            profiled = PROFILED[0] <= self.steps <= PROFILED[1]
            self.truth.add(self.steps - 1, ended - self.ended, defect=profiled)
        self.ended = ended


def main(logdir, truth, healthy):
    net = ordinary.model(128)
    net.compile("adam", "mse")
    with tempfile.TemporaryDirectory() as directory:
        board = tf.keras.callbacks.TensorBoard(
            directory, write_graph=False, profile_batch=0 if healthy else PROFILED
        )
        net.fit(
            ordinary.dataset(STEPS_OF_EPOCH),
            epochs=EPOCHS,
            verbose=0,
            callbacks=[tbslow.keras.SlowdownCallback(logdir), board, Lap(truth)],
        )


if __name__ == "__main__":
    injector.run("profiling", main)
