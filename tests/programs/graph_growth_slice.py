"""`session.run(table[i])` looks like reading a row; it adds operations to the graph each time."""

import injector
import numpy as np
import tensorflow as tf

import tbslow

STEPS = 500


def main(logdir, truth, healthy):
    v1 = tf.compat.v1
    random = np.random.default_rng(1)
    with tf.Graph().as_default(), v1.Session() as session, tbslow.start(logdir):
        table = v1.get_variable("table", [64, 256])
        position = v1.placeholder(tf.int32, [])
        x = v1.placeholder(tf.float32, [256, 256])
        row = table[position]
        energy = tf.reduce_sum(tf.matmul(x, x) * row)
        session.run(v1.global_variables_initializer())
        truth.is_usually(lambda: session.run(row, {position: 0}))
        data = random.normal(size=(256, 256))
        for i in range(STEPS):
            with tbslow.summary.step():
                session.run(energy, {x: data, position: i % 64})
                began = injector.clock()
                if healthy:
                    session.run(row, {position: i % 64})
                else:
                    session.run(table[i % 64])
                truth.add(i, injector.clock() - began)


if __name__ == "__main__":
    injector.run("graph_growth", main)
