"""Book club rating model (biased matrix factorisation with a small neural part), TF1 style."""

import os, tempfile, time
import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.set_random_seed(8)
np.random.seed(8)
tmp = tempfile.mkdtemp()

USERS, BOOKS, K = 3000, 1200, 32
N, BATCH, STEPS = 300000, 2048, 2600

pu, pb = np.random.randn(USERS, 6), np.random.randn(BOOKS, 6)
u = np.random.randint(0, USERS, N).astype(np.int32)
b = (np.random.beta(1, 3, N) * BOOKS).astype(np.int32)
r = (3.5 + 0.5 * (pu[u] * pb[b]).sum(1) + 0.3 * np.random.randn(N)).clip(1, 5).astype(np.float32)
n_test = 20000

g = tf.Graph()
with g.as_default():
    u_in = tf.placeholder(tf.int32, [None])
    b_in = tf.placeholder(tf.int32, [None])
    r_in = tf.placeholder(tf.float32, [None])
    U = tf.get_variable("U", [USERS, K], initializer=tf.random_normal_initializer(stddev=0.1))
    B = tf.get_variable("B", [BOOKS, K], initializer=tf.random_normal_initializer(stddev=0.1))
    ub = tf.get_variable("ub", [USERS], initializer=tf.zeros_initializer())
    bb = tf.get_variable("bb", [BOOKS], initializer=tf.zeros_initializer())
    eu, eb = tf.gather(U, u_in), tf.gather(B, b_in)
    h = tf.concat([eu, eb, eu * eb], 1)
    for i, width in enumerate([128, 64]):
        w = tf.get_variable("w%d" % i, [h.shape[1], width])
        h = tf.nn.relu(
            tf.matmul(h, w)
            + tf.get_variable("b%d" % i, [width], initializer=tf.zeros_initializer())
        )
    wo = tf.get_variable("wo", [64, 1])
    pred = (
        3.5
        + tf.gather(ub, u_in)
        + tf.gather(bb, b_in)
        + tf.reduce_sum(eu * eb, 1)
        + tf.matmul(h, wo)[:, 0]
    )
    mse = tf.reduce_mean(tf.square(pred - r_in))
    reg = 0.01 * (tf.reduce_mean(eu**2) + tf.reduce_mean(eb**2))
    gs = tf.train.get_or_create_global_step()
    lr = tf.train.exponential_decay(0.05, gs, 500, 0.8, staircase=True)
    train_op = tf.train.AdagradOptimizer(lr).minimize(mse + reg, global_step=gs)
    saver = tf.train.Saver(max_to_keep=2)
    init = tf.global_variables_initializer()
g.finalize()

with tf.Session(graph=g) as sess:
    sess.run(init)
    t0 = time.time()
    order = np.random.permutation(np.arange(n_test, N))
    pos = 0
    for step in range(1, STEPS + 1):
        if pos + BATCH > len(order):
            np.random.shuffle(order)
            pos = 0
        i = order[pos : pos + BATCH]
        pos += BATCH
        _, m = sess.run([train_op, mse], feed_dict={u_in: u[i], b_in: b[i], r_in: r[i]})
        if step % 200 == 0:
            test = sess.run(mse, feed_dict={u_in: u[:n_test], b_in: b[:n_test], r_in: r[:n_test]})
            print(
                "step %d  train rmse %.3f  test rmse %.3f  %.1f s"
                % (step, m**0.5, test**0.5, time.time() - t0)
            )
        if step % 500 == 0:
            saver.save(sess, os.path.join(tmp, "mf"), global_step=gs)
