"""Plankton pictures with placeholders and a session, as in 2017."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

SIDE, KINDS, BATCH, ITERATIONS = 28, 12, 320, 480
rng = np.random.RandomState(99)


def next_batch(n):
    y = rng.randint(0, KINDS, n)
    x = rng.rand(n, SIDE * SIDE).astype(np.float32) * 0.5
    for i, k in enumerate(y):
        x[i, k * 40 : k * 40 + 120] += 0.35
    return x, y


def weight(shape):
    return tf.Variable(tf.truncated_normal(shape, stddev=0.1))


images = tf.placeholder(tf.float32, [None, SIDE * SIDE])
targets = tf.placeholder(tf.float32, [None, KINDS])
keep = tf.placeholder_with_default(1.0, [])

grid = tf.reshape(images, [-1, SIDE, SIDE, 1])
h1 = tf.nn.relu(tf.nn.conv2d(grid, weight([5, 5, 1, 12]), [1, 2, 2, 1], "SAME"))
h2 = tf.nn.relu(tf.nn.conv2d(h1, weight([3, 3, 12, 24]), [1, 2, 2, 1], "SAME"))
flat = tf.reshape(h2, [-1, 7 * 7 * 24])
full = tf.nn.dropout(tf.nn.relu(tf.matmul(flat, weight([7 * 7 * 24, 96]))), rate=1 - keep)
logits = tf.matmul(full, weight([96, KINDS]))

loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=targets, logits=logits))
train_op = tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss)
hits = tf.equal(tf.argmax(logits, 1), tf.argmax(targets, 1))
accuracy = tf.reduce_mean(tf.cast(hits, tf.float32))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(ITERATIONS):
        x, y = next_batch(BATCH)
        one_hot = sess.run(tf.one_hot(y, KINDS))
        sess.run(train_op, feed_dict={images: x, targets: one_hot, keep: 0.7})
        if i % 50 == 0:
            share = accuracy.eval(feed_dict={images: x, targets: one_hot})
            print("iteration %d, training accuracy %.2f" % (i, share))
