"""A TensorFlow 1 style loop that builds its assignment inside the loop, so the graph grows."""

import sys

import numpy as np
import tensorflow as tf

import tbslow

STEPS = 600


def main(logdir: str) -> None:
    v1 = tf.compat.v1
    random = np.random.default_rng(1)
    with tf.Graph().as_default(), v1.Session() as session, tbslow.start(logdir):
        v1.set_random_seed(1)
        x = v1.placeholder(tf.float32, [64, 32])
        y = v1.placeholder(tf.float32, [64, 1])
        weights = v1.get_variable("weights", [32, 1])
        loss = tf.reduce_mean((tf.matmul(x, weights) - y) ** 2)
        (gradient,) = tf.gradients(loss, [weights])
        session.run(v1.global_variables_initializer())
        for _ in range(STEPS):
            batch = {x: random.normal(size=(64, 32)), y: random.normal(size=(64, 1))}
            with tbslow.summary.step():
                update = v1.assign_sub(weights, 0.01 * gradient)
                _, value = session.run([update, loss], batch)
    print("loss", float(value))


if __name__ == "__main__":
    main(sys.argv[1])
