"""A program that uses `tbslow` itself: two updates are one step, and it chooses the logdir."""

import time

import tensorflow as tf

import tbslow

weight = tf.Variable(1.0)


@tf.function
def update(x):
    weight.assign_sub(0.01 * x)


with tbslow.start("logs"):
    for number in range(100):
        with tbslow.summary.step():
            update(weight)
            update(weight)
            with tbslow.summary.phase("checkpoint"):
                time.sleep(0.02 if number % 2 else 0.0)
print(f"weight {float(weight):.6f}")
