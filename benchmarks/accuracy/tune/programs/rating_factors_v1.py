from __future__ import print_function
import argparse
import os
import shutil
import tempfile
import time

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
tf.logging.set_verbosity(tf.logging.ERROR)


def get_args():
    p = argparse.ArgumentParser("neural matrix factorization, implicit feedback, BPR")
    p.add_argument("--n_users", default=3000, type=int)
    p.add_argument("--n_items", default=1200, type=int)
    p.add_argument("--dim", default=48, type=int)
    p.add_argument("--batch", default=512, type=int)
    p.add_argument("--epochs", default=26, type=int)
    p.add_argument("--eval_every", default=4, type=int)
    p.add_argument("--lr", default=1e-3, type=float)
    p.add_argument("--reg", default=1e-5, type=float)
    p.add_argument("--topk", default=20, type=int)
    return p.parse_args()


def simulate(a, rng):
    U, V = rng.randn(a.n_users, 8), rng.randn(a.n_items, 8)
    pop = rng.gumbel(size=a.n_items) * 0.7
    pairs, held = [], np.zeros(a.n_users, int)
    for u in range(a.n_users):
        s = V @ U[u] + pop + rng.gumbel(size=a.n_items)
        top = np.argpartition(-s, 26)[:26]
        rng.shuffle(top)
        held[u] = top[0]
        pairs.append(np.stack([np.full(25, u), top[1:]], 1))
    return np.concatenate(pairs).astype(np.int32), held


class BPR(object):
    def __init__(self, a):
        self.u = tf.placeholder(tf.int32, [None])
        self.i = tf.placeholder(tf.int32, [None])
        self.j = tf.placeholder(tf.int32, [None])
        self.lr = tf.placeholder(tf.float32, [])
        self.training = tf.placeholder_with_default(False, [])
        init = tf.random_normal_initializer(stddev=0.1)
        with tf.variable_scope("emb"):
            self.P = tf.get_variable("P", [a.n_users, a.dim], initializer=init)
            self.Q = tf.get_variable("Q", [a.n_items, a.dim], initializer=init)
        with tf.variable_scope("mlp"):
            self.W1 = tf.get_variable("W1", [2 * a.dim, 128])
            self.b1 = tf.get_variable("b1", [128], initializer=tf.zeros_initializer())
            self.W2 = tf.get_variable("W2", [128, 1])
        pu = tf.nn.embedding_lookup(self.P, self.u)
        qi, qj = tf.nn.embedding_lookup(self.Q, self.i), tf.nn.embedding_lookup(self.Q, self.j)
        diff = self.score(pu, qi) - self.score(pu, qj)
        reg = tf.nn.l2_loss(pu) + tf.nn.l2_loss(qi) + tf.nn.l2_loss(qj)
        self.loss = tf.reduce_mean(tf.nn.softplus(-diff)) + a.reg * reg
        self.step = tf.train.get_or_create_global_step()
        self.train_op = tf.train.AdamOptimizer(self.lr).minimize(self.loss, global_step=self.step)
        n = tf.shape(pu)[0]
        pa = tf.reshape(tf.tile(pu[:, None], [1, a.n_items, 1]), [-1, a.dim])
        qa = tf.tile(self.Q, [n, 1])
        self.all_scores = tf.reshape(self.score(pa, qa), [n, a.n_items])

    def score(self, p, q):
        h = tf.nn.relu(tf.matmul(tf.concat([p, q], 1), self.W1) + self.b1)
        h = tf.cond(self.training, lambda: tf.nn.dropout(h, rate=0.2), lambda: h)
        return tf.reduce_sum(p * q, 1) + tf.matmul(h, self.W2)[:, 0]


def hit_rate(sess, m, users, held, seen, k):
    hits = 0
    for s in range(0, len(users), 25):
        b = users[s : s + 25]
        sc = sess.run(m.all_scores, {m.u: b})
        for row, u in zip(sc, b):
            row[seen[u]] = -1e9
            hits += held[u] in np.argpartition(-row, k)[:k]
    return hits / float(len(users))


def main():
    a = get_args()
    rng = np.random.RandomState(0)
    tf.set_random_seed(0)
    pairs, held = simulate(a, rng)
    seen = pairs[:, 1].reshape(a.n_users, 25)
    model, saver = BPR(a), tf.train.Saver(max_to_keep=1)
    out = tempfile.mkdtemp()
    probe = rng.choice(a.n_users, 150, replace=False)
    cfg = tf.ConfigProto(allow_soft_placement=True)
    with tf.Session(config=cfg) as sess:
        sess.run(tf.global_variables_initializer())
        tf.get_default_graph().finalize()
        for ep in range(a.epochs):
            tic, losses = time.time(), []
            lr = a.lr * (0.1 if ep >= 20 else 1.0)
            order = rng.permutation(len(pairs))
            neg = rng.randint(0, a.n_items, len(pairs))
            for s in range(0, len(order), a.batch):
                o = order[s : s + a.batch]
                l, _ = sess.run(
                    [model.loss, model.train_op],
                    {
                        model.u: pairs[o, 0],
                        model.i: pairs[o, 1],
                        model.j: neg[o],
                        model.lr: lr,
                        model.training: True,
                    },
                )
                losses.append(l)
            line = "epoch %02d  bpr %.4f  lr %g" % (ep, np.mean(losses), lr)
            if (ep + 1) % a.eval_every == 0:
                line += "  HR@%d %.3f" % (a.topk, hit_rate(sess, model, probe, held, seen, a.topk))
            print(line, " %.2fs" % (time.time() - tic))
        saver.save(sess, os.path.join(out, "bpr"), global_step=model.step)
    shutil.rmtree(out)


if __name__ == "__main__":
    main()
