"""Recognise letters of a wood type case (letterpress shop) from 28x28 proofs.

Old course code, still on the v1 session API. Prints accuracy as it goes.
"""

import os
import sys
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
tf.set_random_seed(1893)
rng = np.random.RandomState(1893)

N_LETTERS = 26
BATCH = 100
N_STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 480
LR = 0.003


def proofs(n, masters):
    """Inked proofs: a master glyph, shifted, worn, badly inked."""
    y = rng.randint(0, N_LETTERS, n)
    x = np.empty((n, 28, 28), np.float32)
    shifts = rng.randint(-2, 3, (n, 2))
    for i in range(n):
        x[i] = np.roll(masters[y[i]], shifts[i], axis=(0, 1))
    x *= rng.rand(n, 28, 28) > 0.12
    x += 0.15 * rng.randn(n, 28, 28)
    return x.reshape(n, 784).astype(np.float32), y


def cut_masters():
    coarse = rng.rand(N_LETTERS, 7, 7) > 0.55
    return np.kron(coarse, np.ones((4, 4))).astype(np.float32)


def weight_variable(shape, name):
    return tf.get_variable(name, shape, initializer=tf.glorot_uniform_initializer())


def conv_block(h, cin, cout, name):
    w = weight_variable([3, 3, cin, cout], name + "_w")
    b = tf.get_variable(name + "_b", [cout], initializer=tf.zeros_initializer())
    h = tf.nn.relu(tf.nn.conv2d(h, w, strides=[1, 1, 1, 1], padding="SAME") + b)
    return tf.nn.max_pool2d(h, 2, 2, "SAME")


def network(x, keep_prob):
    h = tf.reshape(x, [-1, 28, 28, 1])
    h = conv_block(h, 1, 12, "c1")
    h = conv_block(h, 12, 24, "c2")
    h = tf.reshape(h, [-1, 7 * 7 * 24])
    h = tf.nn.relu(tf.matmul(h, weight_variable([7 * 7 * 24, 96], "fc_w")))
    h = tf.nn.dropout(h, rate=1 - keep_prob)
    return tf.matmul(h, weight_variable([96, N_LETTERS], "out_w"))


masters = cut_masters()
train_x, train_y = proofs(6000, masters)
test_x, test_y = proofs(500, masters)

X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.float32, [None, N_LETTERS])
keep = tf.placeholder(tf.float32, [])
logits = network(X, keep)
cost = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=Y, logits=logits))
train_op = tf.train.AdamOptimizer(LR).minimize(cost)
correct = tf.equal(tf.argmax(logits, 1), tf.argmax(Y, 1))
accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))
labels_in = tf.placeholder(tf.int32, [None])
one_hot_labels = tf.one_hot(labels_in, N_LETTERS)


def next_batch(sess, images, labels, size):
    pick = rng.randint(0, len(labels), size)
    batch_x = images[pick]
    batch_y = sess.run(tf.one_hot(labels[pick], N_LETTERS))
    return batch_x, batch_y


with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    test_hot = np.eye(N_LETTERS, dtype=np.float32)[test_y]
    start = time.time()
    last = start
    for i in range(N_STEPS):
        batch_x, batch_y = next_batch(sess, train_x, train_y, BATCH)
        _, c = sess.run([train_op, cost], feed_dict={X: batch_x, Y: batch_y, keep: 0.7})
        if (i + 1) % 100 == 0:
            acc = sess.run(accuracy, feed_dict={X: test_x, Y: test_hot, keep: 1.0})
            now = time.time()
            print(
                "step %4d  cost %.4f  acc %.3f  %.1fs for the last 100"
                % (i + 1, c, acc, now - last)
            )
            last = now
    print("done in %.1fs" % (time.time() - start))
