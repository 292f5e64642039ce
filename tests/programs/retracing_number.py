"""The learning rate is a Python number, so that each of its values is traced."""

import time

import injector
import ordinary
import tensorflow as tf

import tbslow

STEPS = 500


def main(logdir, truth, healthy):
    net = ordinary.model()

    @tf.function
    def train_step(x, y, learning_rate):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((net(x) - y) ** 2)
        gradients = tape.gradient(loss, net.trainable_variables)
        for variable, gradient in zip(net.trainable_variables, gradients, strict=True):
            variable.assign_sub(learning_rate * gradient)
        return loss

    with tbslow.start(logdir):
        for i, (x, y) in enumerate(tbslow.data(ordinary.dataset(STEPS))):
            learning_rate = 0.01 * 0.97 ** (i // 5)
            if healthy:
                learning_rate = tf.constant(learning_rate)
            with tbslow.summary.step():
                traced = train_step.experimental_get_tracing_count()
                began = time.perf_counter()
                train_step(x, y, learning_rate)
                seconds = time.perf_counter() - began
                again = 0 < traced < train_step.experimental_get_tracing_count()
                if i:
                    truth.add(i, seconds, defect=again)


if __name__ == "__main__":
    injector.run("retracing", main)
