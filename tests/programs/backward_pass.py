"""The recurrent state is never cut off: each gradient goes back to the first step of the run."""

import time

import injector
import ordinary
import tensorflow as tf

import tbslow

STEPS = 400


def main(logdir, truth, healthy):
    weights = tf.Variable(tf.random.normal([ordinary.FEATURES, ordinary.FEATURES], stddev=0.01))
    state = tf.zeros([1, ordinary.FEATURES])
    tape = tf.GradientTape(persistent=True)
    tape.__enter__()
    with tbslow.start(logdir):
        for i, (x, y) in enumerate(tbslow.data(ordinary.dataset(STEPS))):
            with tbslow.summary.step():
                if healthy:
                    state = tf.stop_gradient(state)
                    tape.__exit__(None, None, None)
                    tape = tf.GradientTape(persistent=True)
                    tape.__enter__()
                with tbslow.summary.phase("forward"):
                    state = tf.tanh(tf.matmul(state + x[:1], weights))
                    loss = tf.reduce_mean((state - y[:1]) ** 2)
                began = time.perf_counter()
                with tbslow.summary.phase("backward"), tape.stop_recording():
                    gradient = tape.gradient(loss, weights)
                truth.add(i, time.perf_counter() - began)
                with tape.stop_recording():
                    weights.assign_sub(0.001 * gradient)
    tape.__exit__(None, None, None)
    truth.grows_from_first(10)


if __name__ == "__main__":
    injector.run("backward_pass", main)
