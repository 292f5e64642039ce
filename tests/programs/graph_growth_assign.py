"""A TensorFlow 1 loop that builds its update inside the loop, so that the graph grows."""

import injector
import numpy as np
import tensorflow as tf

import tbslow

STEPS = 500


def main(logdir, truth, healthy):
    v1 = tf.compat.v1
    random = np.random.default_rng(1)
    with tf.Graph().as_default(), v1.Session() as session, tbslow.start(logdir):
        v1.set_random_seed(1)
        x = v1.placeholder(tf.float32, [64, 256])
        y = v1.placeholder(tf.float32, [64, 1])
        hidden = v1.get_variable("hidden", [256, 512])
        weights = v1.get_variable("weights", [512, 1])
        loss = tf.reduce_mean((tf.matmul(tf.nn.relu(tf.matmul(x, hidden)), weights) - y) ** 2)
        gradient = tf.gradients(loss, [weights])[0]
        once = v1.assign_sub(weights, 0.001 * gradient)
        session.run(v1.global_variables_initializer())
        batch = {x: random.normal(size=(64, 256)), y: random.normal(size=(64, 1))}
        truth.is_usually(lambda: session.run([once, loss], batch))
        for i in range(STEPS):
            batch = {x: random.normal(size=(64, 256)), y: random.normal(size=(64, 1))}
            with tbslow.summary.step():
                began = injector.clock()
                update = once if healthy else v1.assign_sub(weights, 0.001 * gradient)
                session.run([update, loss], batch)
                if i:
                    truth.add(i, injector.clock() - began)


if __name__ == "__main__":
    injector.run("graph_growth", main)
