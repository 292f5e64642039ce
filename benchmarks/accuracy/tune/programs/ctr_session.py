"""Click-through model from the old ads codebase (graph + session)."""

import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()

FIELDS = 10
VOCAB = 4000
DIM = 12
BATCH = 256
STEPS = 2200
BASE_LR = 0.01
WARM = 300


def make_log(rows, seed):
    rng = np.random.default_rng(seed)
    ids = rng.zipf(1.3, size=(rows, FIELDS)) % VOCAB
    bias = np.random.default_rng(0).normal(size=(FIELDS, VOCAB)) * 0.6
    logit = sum(bias[f, ids[:, f]] for f in range(FIELDS)) - 1.0
    clicks = rng.random(rows) < 1 / (1 + np.exp(-logit))
    return ids.astype(np.int32), clicks.astype(np.float32)


class CtrGraph:
    def __init__(self):
        self.ids = tf.placeholder(tf.int32, [None, FIELDS], "ids")
        self.clicks = tf.placeholder(tf.float32, [None], "clicks")
        self.lr = tf.get_variable("lr", initializer=BASE_LR, trainable=False)
        table = tf.get_variable(
            "table", [FIELDS * VOCAB, DIM], initializer=tf.random_normal_initializer(stddev=0.05)
        )
        first = tf.get_variable("first", [FIELDS * VOCAB], initializer=tf.zeros_initializer())
        flat = self.ids + tf.range(FIELDS) * VOCAB
        emb = tf.nn.embedding_lookup(table, flat)
        pair = 0.5 * (tf.square(tf.reduce_sum(emb, 1)) - tf.reduce_sum(tf.square(emb), 1))
        h = tf.reshape(emb, [-1, FIELDS * DIM])
        for i, width in enumerate((256, 128)):
            w = tf.get_variable("w%d" % i, [h.shape[1], width])
            b = tf.get_variable("b%d" % i, [width], initializer=tf.zeros_initializer())
            h = tf.nn.relu(tf.matmul(h, w) + b)
        out = tf.get_variable("out", [128, 1])
        self.logit = (
            tf.reduce_sum(tf.nn.embedding_lookup(first, flat), 1)
            + tf.reduce_sum(pair, 1)
            + tf.matmul(h, out)[:, 0]
        )
        self.loss = tf.reduce_mean(
            tf.nn.sigmoid_cross_entropy_with_logits(labels=self.clicks, logits=self.logit)
        )
        self.train_op = tf.train.AdagradOptimizer(self.lr).minimize(self.loss)


def auc_score(labels, scores):
    order = np.argsort(scores)
    ranks = np.empty(len(scores))
    ranks[order] = np.arange(1, len(scores) + 1)
    pos = labels > 0.5
    n_pos, n_neg = pos.sum(), (~pos).sum()
    return (ranks[pos].sum() - n_pos * (n_pos + 1) / 2) / (n_pos * n_neg)


def rate_at(step):
    if step < WARM:
        return BASE_LR * (step + 1) / WARM
    return BASE_LR * 0.5 * (1 + np.cos(np.pi * (step - WARM) / (STEPS - WARM)))


def main():
    np.random.seed(1)
    tf.set_random_seed(1)
    ids, clicks = make_log(120_000, 1)
    dev_ids, dev_clicks = make_log(40_000, 2)
    graph = CtrGraph()
    best_auc, best_step = 0.0, 0
    t0 = time.time()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(STEPS):
            rows = np.random.randint(0, len(ids), BATCH)
            if step % 4 == 0:
                sess.run(tf.assign(graph.lr, rate_at(step)))
            _, loss = sess.run(
                [graph.train_op, graph.loss], {graph.ids: ids[rows], graph.clicks: clicks[rows]}
            )
            # once warmed up, keep track of the best model
            if step >= WARM and step % 8 == 0:
                scores = sess.run(graph.logit, {graph.ids: dev_ids})
                auc = auc_score(dev_clicks, scores)
                if auc > best_auc:
                    best_auc, best_step = auc, step
            if step % 200 == 0:
                print("step %d loss %.4f best auc %.4f @ %d" % (step, loss, best_auc, best_step))
    print("done in %.1f s" % (time.time() - t0))


if __name__ == "__main__":
    main()
