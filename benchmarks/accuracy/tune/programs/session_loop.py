"""Softmax regression with a session and a feed, the graph finalized."""

import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
tf1.disable_v2_behavior()

x = tf1.placeholder(tf.float32, [None, 784])
labels = tf1.placeholder(tf.int64, [None])
w1 = tf1.get_variable("w1", [784, 256], initializer=tf1.truncated_normal_initializer(0.05))
w2 = tf1.get_variable("w2", [256, 10], initializer=tf1.truncated_normal_initializer(0.05))
logits = tf.matmul(tf.nn.relu(tf.matmul(x, w1)), w2)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
step = tf1.train.get_or_create_global_step()
train = tf1.train.AdamOptimizer(1e-3).minimize(loss, global_step=step)
correct = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), labels), tf.float32))
init = tf1.global_variables_initializer()
tf1.get_default_graph().finalize()

images = np.random.rand(6000, 784).astype(np.float32)
digits = np.random.randint(0, 10, 6000)
with tf1.Session() as sess:
    sess.run(init)
    for i in range(1800):
        pick = np.random.randint(0, 6000, 100)
        sess.run(train, {x: images[pick], labels: digits[pick]})
        if i % 300 == 0:
            print(i, sess.run([loss, correct], {x: images[:500], labels: digits[:500]}))
