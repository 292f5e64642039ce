"""A Keras callback takes the mean of all losses so far after each batch."""

import time

import injector
import numpy as np
import ordinary
import tensorflow as tf

import tbslow

EPOCHS = 5
STEPS_OF_EPOCH = 300


def main(logdir, truth, healthy):
    losses = []

    class RunningMean(tf.keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            began = time.perf_counter()
            losses.extend([logs["loss"]] * 64)
            np.mean(losses[-64:] if healthy else losses)
            truth.add(len(losses) // 64 - 1, time.perf_counter() - began)

    net = ordinary.model()
    net.compile("sgd", "mse")
    callbacks = [tbslow.keras.SlowdownCallback(logdir), RunningMean()]
    net.fit(ordinary.dataset(STEPS_OF_EPOCH), epochs=EPOCHS, verbose=0, callbacks=callbacks)
    truth.grows_from_first(20)


if __name__ == "__main__":
    injector.run("callbacks", main)
