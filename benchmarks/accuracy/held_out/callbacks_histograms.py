"""Keras's TensorBoard callback writes a histogram of each weight after every short epoch.

After report 37 of the catalogue (tensorflow#24643): five times as slow with `histogram_freq=1`.
"""

import tempfile
import time

import injector
import ordinary
import tensorflow as tf

import tbslow

EPOCHS = 25
STEPS_OF_EPOCH = 30


def main(logdir, truth, healthy):
    net = ordinary.model()
    net.compile("sgd", "mse")
    marks = []
    before = tf.keras.callbacks.LambdaCallback(
        on_epoch_end=lambda *_: marks.append(time.perf_counter())
    )
    after = tf.keras.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, _: truth.add(
            (epoch + 1) * STEPS_OF_EPOCH - 1, time.perf_counter() - marks[-1]
        )
    )
    with tempfile.TemporaryDirectory() as directory:
        board = tf.keras.callbacks.TensorBoard(directory, histogram_freq=0 if healthy else 1)
        net.fit(
            ordinary.dataset(STEPS_OF_EPOCH),
            epochs=EPOCHS,
            verbose=0,
            callbacks=[tbslow.keras.SlowdownCallback(logdir), before, board, after],
        )


if __name__ == "__main__":
    injector.run("callbacks", main)
