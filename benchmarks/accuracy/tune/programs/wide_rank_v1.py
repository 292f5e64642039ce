"""Candidate ranking, kept on the session API because serving still loads it.

Users are sequences of item numbers; item side features come from the
merchandising export and are looked up inside the graph.
"""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()

ITEMS, FEATS, PAST, CANDIDATES = 150_000, 64, 20, 30
BATCH = 96
STEPS = 1200


def merch_export(seed=77):
    rng = np.random.default_rng(seed)
    table = rng.normal(0, 1, (ITEMS, FEATS))
    table[:, :8] = np.round(table[:, :8])  # categorical-ish columns
    return table


def sessions(rng):
    while True:
        base = rng.integers(0, ITEMS - 500, (BATCH, 1))
        past = base + rng.integers(0, 500, (BATCH, PAST))
        cand = rng.integers(0, ITEMS, (BATCH, CANDIDATES))
        cand[:, 0] = base[:, 0] + rng.integers(0, 500, BATCH)
        yield past.astype(np.int32), cand.astype(np.int32)


def dense(x, units, name, act=None):
    with tf.variable_scope(name):
        w = tf.get_variable("w", (x.shape[-1], units), initializer=tf.glorot_uniform_initializer())
        b = tf.get_variable("b", (units,), initializer=tf.zeros_initializer())
        y = tf.tensordot(x, w, 1) + b
    return act(y) if act else y


class Ranker:
    def __init__(self):
        self.item_feats = tf.placeholder(tf.float32, (ITEMS, FEATS), "item_feats")
        self.past = tf.placeholder(tf.int32, (None, PAST), "past")
        self.cand = tf.placeholder(tf.int32, (None, CANDIDATES), "cand")
        seen = tf.gather(self.item_feats, self.past)
        offered = tf.gather(self.item_feats, self.cand)
        h = dense(seen, 256, "seen1", tf.nn.relu)
        h = dense(h, 256, "seen2", tf.nn.relu)
        user = dense(tf.reduce_mean(h, 1), 128, "user")
        k = dense(offered, 256, "cand1", tf.nn.relu)
        k = dense(k, 128, "cand2")
        self.score = tf.einsum("bd,bcd->bc", user, k) / 11.3
        label = tf.zeros(tf.shape(self.past)[:1], tf.int32)
        self.loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=label, logits=self.score)
        )
        self.step = tf.train.get_or_create_global_step()
        rate = tf.train.exponential_decay(1e-3, self.step, 200, 0.8)
        opt = tf.train.AdamOptimizer(rate)
        grads, variables = zip(*opt.compute_gradients(self.loss))
        grads, self.norm = tf.clip_by_global_norm(grads, 2.0)
        self.train = opt.apply_gradients(zip(grads, variables), self.step)
        tf.summary.scalar("loss", self.loss)
        tf.summary.scalar("grad_norm", self.norm)
        self.summary = tf.summary.merge_all()


def main():
    tf.set_random_seed(6)
    ranker = Ranker()
    catalog = merch_export()
    feed = sessions(np.random.default_rng(15))
    saver = tf.train.Saver(max_to_keep=2)
    with tempfile.TemporaryDirectory() as work, tf.Session() as sess:
        writer = tf.summary.FileWriter(work)
        sess.run(tf.global_variables_initializer())
        tf.get_default_graph().finalize()
        losses = []
        for n in range(1, STEPS + 1):
            past, cand = next(feed)
            inputs = {ranker.past: past, ranker.cand: cand}
            inputs[ranker.item_feats] = catalog
            _, loss = sess.run([ranker.train, ranker.loss], inputs)
            losses.append(loss)
            if n % 50 == 0:
                text = sess.run(ranker.summary, inputs)
                writer.add_summary(text, n)
                print(f"step {n}  loss {np.mean(losses[-50:]):.4f}")
            if n % 300 == 0:
                saver.save(sess, os.path.join(work, "rank"), global_step=n)
        writer.close()


if __name__ == "__main__":
    main()
