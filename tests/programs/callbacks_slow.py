"""A Keras callback computes statistics of all weights after each batch."""

import time

import injector
import numpy as np
import ordinary
import tensorflow as tf

import tbslow

EPOCHS = 5
STEPS_OF_EPOCH = 120


def main(logdir, truth, healthy):
    class WeightStatistics(tf.keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if not healthy:
                began = time.perf_counter()
                for weights in self.model.get_weights():
                    np.percentile(weights, [1, 50, 99])
                truth.add(batch, time.perf_counter() - began)

    net = ordinary.model()
    net.compile("sgd", "mse")
    callbacks = [tbslow.keras.SlowdownCallback(logdir), WeightStatistics()]
    net.fit(ordinary.dataset(STEPS_OF_EPOCH), epochs=EPOCHS, verbose=0, callbacks=callbacks)


if __name__ == "__main__":
    injector.run("callbacks", main)
