"""Pairwise (BPR) ranker with side features, still on the session API."""

import time

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
tf.set_random_seed(6)
rng = np.random.RandomState(6)

N_USER, N_ITEM, DIM, SIDE = 3000, 1500, 48, 64
BATCH, STEPS, EVAL_EVERY = 2048, 220, 55

taste = rng.randn(N_USER, 8)
style = rng.randn(N_ITEM, 8)
side = np.tanh(style @ rng.randn(8, SIDE)).astype("float32")
affinity = taste @ style.T
liked = np.argsort(-affinity, axis=1)[:, :40].astype("int32")


def sample_triples(n):
    u = rng.randint(0, N_USER, n)
    pos = liked[u, rng.randint(0, 40, n)]
    neg = rng.randint(0, N_ITEM, n)
    return u, pos, neg


def tower(x, scope):
    with tf.variable_scope(scope, reuse=tf.AUTO_REUSE):
        for i, width in enumerate((512, 512, 256)):
            w = tf.get_variable(
                "w%d" % i, [x.shape[-1], width], initializer=tf.glorot_uniform_initializer()
            )
            b = tf.get_variable("b%d" % i, [width], initializer=tf.zeros_initializer())
            x = tf.nn.relu(tf.matmul(x, w) + b)
        w = tf.get_variable(
            "w_out", [x.shape[-1], DIM], initializer=tf.glorot_uniform_initializer()
        )
        return tf.matmul(x, w)


def build():
    u = tf.placeholder(tf.int32, [None], "user")
    pos = tf.placeholder(tf.int32, [None], "pos")
    neg = tf.placeholder(tf.int32, [None], "neg")
    users = tf.get_variable(
        "users", [N_USER, DIM], initializer=tf.random_normal_initializer(0, 0.1)
    )
    items = tf.get_variable(
        "items", [N_ITEM, DIM], initializer=tf.random_normal_initializer(0, 0.1)
    )
    side_t = tf.constant(side)

    def item_vec(ids):
        x = tf.concat([tf.gather(items, ids), tf.gather(side_t, ids)], 1)
        return tower(x, "item")

    uv = tower(tf.gather(users, u), "user")
    margin = tf.reduce_sum(uv * (item_vec(pos) - item_vec(neg)), 1)
    loss = tf.reduce_mean(tf.nn.softplus(-margin))
    train = tf.train.AdamOptimizer(1e-3).minimize(loss)
    all_scores = tf.matmul(uv, item_vec(tf.range(N_ITEM)), transpose_b=True)
    top = tf.nn.top_k(all_scores, 20).indices
    return (u, pos, neg), loss, train, top


def recall_at_20(sess, u_ph, top, users):
    found = sess.run(top, {u_ph: users})
    hits = [len(np.intersect1d(f, liked[k])) / 20.0 for f, k in zip(found, users)]
    return float(np.mean(hits))


placeholders, loss_op, train_op, top_op = build()
probe = np.arange(0, N_USER, 15)
init = tf.global_variables_initializer()
tf.get_default_graph().finalize()

with tf.Session() as sess:
    sess.run(init)
    t0 = time.time()
    for step in range(1, STEPS + 1):
        feed = dict(zip(placeholders, sample_triples(BATCH)))
        loss, _ = sess.run([loss_op, train_op], feed)
        if step % EVAL_EVERY == 0:
            rec = recall_at_20(sess, placeholders[0], top_op, probe)
            print("step %d  bpr %.4f  recall@20 %.3f" % (step, loss, rec))
    print("train wall", round(time.time() - t0, 2))
