"""Vibration-signature classifier for turbine blades (ported from our 2018 code base)."""

import time
import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
tf1.disable_eager_execution()
tf1.set_random_seed(3)
rng = np.random.RandomState(3)

N_CLASSES = 6
LEN = 256
BATCH = 64
STEPS = 450


def make_signals(n):
    y = rng.randint(0, N_CLASSES, n)
    t = np.linspace(0, 1, LEN, dtype=np.float32)
    base = np.sin(2 * np.pi * (4 + 3 * y[:, None]) * t + rng.rand(n, 1) * 6.28)
    harm = 0.4 * np.sin(2 * np.pi * (9 + 5 * y[:, None]) * t + rng.rand(n, 1) * 6.28)
    x = base + harm + 0.8 * rng.randn(n, LEN)
    return x.astype(np.float32)[..., None], y.astype(np.int64)


x_train, y_train = make_signals(8000)
x_val, y_val = make_signals(1000)

x_ph = tf1.placeholder(tf.float32, [None, LEN, 1], name="x")
y_ph = tf1.placeholder(tf.int64, [None], name="y")


def conv(name, x, cin, cout, width, stride):
    with tf1.variable_scope(name):
        w = tf1.get_variable("w", [width, cin, cout], initializer=tf1.glorot_uniform_initializer())
        b = tf1.get_variable("b", [cout], initializer=tf1.zeros_initializer())
    return tf.nn.relu(tf.nn.conv1d(x, w, stride=stride, padding="SAME") + b)


h = conv("c1", x_ph, 1, 24, 9, 2)
h = conv("c2", h, 24, 48, 7, 2)
h = conv("c3", h, 48, 64, 5, 2)
h = tf.reduce_mean(h, axis=1)
w_out = tf1.get_variable("w_out", [64, N_CLASSES])
b_out = tf1.get_variable("b_out", [N_CLASSES], initializer=tf1.zeros_initializer())
logits = tf.matmul(h, w_out) + b_out
loss_op = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y_ph, logits=logits))
acc_op = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), y_ph), tf.float32))
train_op = tf1.train.AdamOptimizer(1e-3).minimize(loss_op)

sess = tf1.Session()


def augment(batch):
    """sensor gain + time shift, as in the field recordings"""
    n = len(batch)
    shift = rng.randint(-20, 20)
    gain = rng.uniform(0.7, 1.3, (n, 1, 1)).astype(np.float32)
    out = tf.roll(batch * gain, shift, axis=1)
    out = out + tf.random.normal(tf.shape(out), stddev=0.05)
    return sess.run(out)


sess.run(tf1.global_variables_initializer())
t0 = time.time()
running = None
for step in range(1, STEPS + 1):
    idx = rng.randint(0, len(x_train), BATCH)
    xb = augment(x_train[idx])
    _, loss = sess.run([train_op, loss_op], {x_ph: xb, y_ph: y_train[idx]})
    running = loss if running is None else 0.95 * running + 0.05 * loss
    if step % 50 == 0:
        acc = sess.run(acc_op, {x_ph: x_val, y_ph: y_val})
        print(
            "step %5d  loss %.4f  val acc %.3f  (%.1f s)" % (step, running, acc, time.time() - t0)
        )
sess.close()
