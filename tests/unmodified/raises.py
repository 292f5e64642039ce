"""A loop that ends with an exception, after many traces of its function."""

import tensorflow as tf

# tbslow: import tbslow; tbslow.start("logs")

weight = tf.Variable(1.0)


def check(value):
    if value >= 90:
        raise RuntimeError(f"no step {value}")
    return value


for number in range(1000):

    @tf.function
    def train_step(x):
        weight.assign_sub(0.001 * x)
        return weight * 2

    # tbslow: with tbslow.summary.step(): result = train_step(tf.constant(float(check(number))))
    result = train_step(tf.constant(float(check(number))))
    if number % 30 == 0:
        print(f"{number}: {float(result):.6f}", flush=True)
