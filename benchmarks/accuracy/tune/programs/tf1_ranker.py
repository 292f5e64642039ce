"""Pairwise ranking in the style of TensorFlow 1."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()

a = tf.placeholder(tf.float32, [None, 40], name="better")
b = tf.placeholder(tf.float32, [None, 40], name="worse")


def score(x):
    with tf.variable_scope("net", reuse=tf.AUTO_REUSE):
        w1 = tf.get_variable("w1", [40, 64])
        w2 = tf.get_variable("w2", [64, 1])
        return tf.matmul(tf.nn.relu(tf.matmul(x, w1)), w2)


margin = score(a) - score(b)
loss = tf.reduce_mean(tf.nn.softplus(-margin))
rate = tf.Variable(0.1, trainable=False)
train_op = tf.train.GradientDescentOptimizer(rate).minimize(loss)
truth = np.random.normal(size=40)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(700):
        x, z = np.random.normal(size=(2, 64, 40))
        swap = (x @ truth < z @ truth)[:, None]
        feed = {a: np.where(swap, z, x), b: np.where(swap, x, z)}
        sess.run(train_op, feed)
        accuracy = sess.run(tf.reduce_mean(tf.cast(margin > 0, tf.float32)), feed)
        if i % 100 == 0:
            sess.run(rate.assign(0.1 / (1 + i / 100)))
            print("step %d accuracy %.3f" % (i, accuracy))
