"""A search over learning rates makes, compiles and fits a new Keras model in each trial.

After report 8 of the catalogue (keras#20552, tensorflow#80753). Without the defect all
trials fit one model, whose weights are set back.
"""

import time

import injector
import ordinary
import tensorflow as tf

import tbslow

TRIALS = 10
STEPS_OF_TRIAL = 50
WIDEST = 512


def make():
    dense = tf.keras.layers.Dense
    net = tf.keras.Sequential(
        [
            tf.keras.Input([ordinary.FEATURES]),
            dense(WIDEST, "relu"),
            tf.keras.layers.Dropout(0.2),
            dense(WIDEST, "relu"),
            dense(64, "relu"),
            dense(1),
        ]
    )
    net.compile("adam", "mse", metrics=["mae"])
    return net


def main(logdir, truth, healthy):
    batches = ordinary.dataset(STEPS_OF_TRIAL)
    callback = tbslow.keras.SlowdownCallback(logdir)
    net = make()
    at_first = net.get_weights()
    for trial in range(TRIALS):
        began = time.perf_counter()
        if trial and healthy:
            net.set_weights(at_first)
        elif trial:
            net = make()
        net.optimizer.learning_rate = 0.01 * 0.8**trial
        net.fit(batches, verbose=0, callbacks=[callback])
        if trial:
            truth.add(trial * STEPS_OF_TRIAL, time.perf_counter() - began)
    callback.monitor.stop()
    for _ in range(3):
        began = time.perf_counter()
        net.set_weights(at_first)
        net.fit(batches, verbose=0)
        truth.add(0, time.perf_counter() - began, defect=False)


if __name__ == "__main__":
    injector.run("retracing", main)
