"""A jitted step gets batches of ever new lengths: it isn't traced again, but XLA compiles it."""

import time

import injector
import ordinary
import tensorflow as tf

import tbslow

STEPS = 300
LONGEST = 96


def main(logdir, truth, healthy):
    net = ordinary.model(128)
    optimizer = ordinary.sgd(net)

    @tf.function(jit_compile=True, reduce_retracing=True)
    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((net(x) - y) ** 2)
        gradients = tape.gradient(loss, net.trainable_variables)
        optimizer.apply_gradients(zip(gradients, net.trainable_variables, strict=True))
        return loss

    rows, labels = ordinary.samples(2)
    seen = set()
    with tbslow.start(logdir):
        for i in range(STEPS):
            length = LONGEST if healthy or i < 50 else 32 + i // 5
            x, y = rows[:length], labels[:length]
            with tbslow.summary.step(items=length):
                began = time.perf_counter()
                train_step(x, y)
                if i > 1:
                    truth.add(i, time.perf_counter() - began, defect=length not in seen)
                seen.add(length)


if __name__ == "__main__":
    injector.run("xla_compilation", main)
