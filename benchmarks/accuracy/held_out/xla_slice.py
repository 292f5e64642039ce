"""A jitted step cuts its window out of a long series with `tf.slice`, at a place that moves.

After report 22 of the catalogue (tensorflow#76070): every batch has the same shape and nothing
is traced again, but XLA must know where a slice begins, and compiles for each new place.
"""

import time

import injector
import ordinary
import tensorflow as tf

import tbslow

STEPS = 400
STEPS_AT_A_PLACE = 20
WINDOW = 128
STRIDE = 16


def main(logdir, truth, healthy):
    net = ordinary.model(256)
    optimizer = ordinary.sgd(net)
    series = tf.random.normal([WINDOW + STRIDE * (STEPS // STEPS_AT_A_PLACE), ordinary.FEATURES])

    @tf.function(jit_compile=True)
    def train_step(begin):
        if healthy:
            x = tf.gather(series, begin + tf.range(WINDOW))
        else:
            x = tf.slice(series, [begin, 0], [WINDOW, ordinary.FEATURES])
        y = tf.reduce_mean(x, axis=1, keepdims=True)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((net(x) - y) ** 2)
        gradients = tape.gradient(loss, net.trainable_variables)
        optimizer.apply_gradients(zip(gradients, net.trainable_variables, strict=True))
        return loss

    with tbslow.start(logdir):
        for i in range(STEPS):
            with tbslow.summary.step():
                began = time.perf_counter()
                train_step(tf.constant(STRIDE * (i // STEPS_AT_A_PLACE)))
                if i:
                    moved = i % STEPS_AT_A_PLACE == 0
                    truth.add(i, time.perf_counter() - began, defect=moved)


if __name__ == "__main__":
    injector.run("xla_compilation", main)
