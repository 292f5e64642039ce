"""A Keras model of many concatenated branches is saved whole after each short epoch.

After report 40 of the catalogue (keras#9298): saving costs by the layer, not only by the byte.
"""

import tempfile
import time

import injector
import ordinary
import tensorflow as tf

import tbslow

EPOCHS = 15
STEPS_OF_EPOCH = 25
BRANCHES = 40


def model():
    rows = tf.keras.Input([ordinary.FEATURES])
    branches = [tf.keras.layers.Dense(48, "relu")(rows) for _ in range(BRANCHES)]
    joined = tf.keras.layers.Concatenate()(branches)
    return tf.keras.Model(rows, tf.keras.layers.Dense(1)(joined))


def main(logdir, truth, healthy):
    net = model()
    net.compile("adam", "mse")
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
        saver = tf.keras.callbacks.ModelCheckpoint(
            f"{directory}/{{epoch:03d}}.keras",
            save_freq=EPOCHS * STEPS_OF_EPOCH if healthy else "epoch",
        )
        net.fit(
            ordinary.dataset(STEPS_OF_EPOCH),
            epochs=EPOCHS,
            verbose=0,
            callbacks=[tbslow.keras.SlowdownCallback(logdir), before, saver, after],
        )


if __name__ == "__main__":
    injector.run("checkpointing", main)
