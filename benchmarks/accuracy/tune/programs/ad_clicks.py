import logging
import math
import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
tf1.disable_eager_execution()
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
log = logging.getLogger("ctr")


class Config:
    n_fields = 14
    bucket = 4000
    emb = 16
    deep = (512, 256, 128)
    batch = 2048
    steps = 700
    warmup = 70
    peak_lr = 4e-3
    final_lr = 1e-5
    eval_every = 100


class ClickLog:
    """Impressions with hashed categorical fields and a few dense counters."""

    def __init__(self, cfg, seed=0):
        self.cfg = cfg
        self.rng = np.random.RandomState(seed)
        self.effect = self.rng.randn(cfg.n_fields, cfg.bucket) * 0.5
        self.pair = self.rng.randn(cfg.bucket, 4), self.rng.randn(cfg.bucket, 4)
        self.dense_w = self.rng.randn(6) * 0.4

    def sample(self, n):
        c = self.cfg
        ids = (self.rng.pareto(1.1, size=(n, c.n_fields)) * 40).astype(np.int64) % c.bucket
        dense = np.log1p(self.rng.exponential(3.0, size=(n, 6)))
        logit = -1.6 + dense.dot(self.dense_w)
        for f in range(c.n_fields):
            logit = logit + self.effect[f, ids[:, f]] * 0.6
        logit = logit + 0.5 * (self.pair[0][ids[:, 0]] * self.pair[1][ids[:, 3]]).sum(1)
        y = self.rng.rand(n) < 1 / (1 + np.exp(-logit))
        return ids.astype(np.int32), dense.astype(np.float32), y.astype(np.float32)


class WideDeep:
    def __init__(self, cfg):
        self.cfg = cfg
        self.ids = tf1.placeholder(tf.int32, [None, cfg.n_fields])
        self.dense = tf1.placeholder(tf.float32, [None, 6])
        self.click = tf1.placeholder(tf.float32, [None])
        self.lr = tf1.get_variable("lr", [], initializer=tf1.zeros_initializer(), trainable=False)
        self.step = tf1.train.get_or_create_global_step()
        self._forward()
        self._train()

    def _forward(self):
        c = self.cfg
        wide_terms, vectors = [], []
        for f in range(c.n_fields):
            with tf1.variable_scope("field_%d" % f):
                table = tf1.get_variable(
                    "emb", [c.bucket, c.emb], initializer=tf1.random_normal_initializer(stddev=0.02)
                )
                wide = tf1.get_variable("wide", [c.bucket, 1], initializer=tf1.zeros_initializer())
                col = self.ids[:, f]
                vectors.append(tf.nn.embedding_lookup(table, col))
                wide_terms.append(tf.nn.embedding_lookup(wide, col))
        stacked = tf.stack(vectors, axis=1)
        fm = 0.5 * (tf.square(tf.reduce_sum(stacked, 1)) - tf.reduce_sum(tf.square(stacked), 1))
        x = tf.concat([tf.reshape(stacked, [-1, c.n_fields * c.emb]), self.dense], 1)
        for i, width in enumerate(c.deep):
            with tf1.variable_scope("deep_%d" % i):
                k = tf1.get_variable(
                    "k", [x.shape[1], width], initializer=tf1.glorot_uniform_initializer()
                )
                b = tf1.get_variable("b", [width], initializer=tf1.zeros_initializer())
                x = tf.nn.relu(tf.matmul(x, k) + b)
        joined = tf.concat([x, fm, self.dense], 1)
        out = tf1.get_variable(
            "out", [joined.shape[1], 1], initializer=tf1.glorot_uniform_initializer()
        )
        bias = tf1.get_variable("bias", [], initializer=tf1.constant_initializer(-1.0))
        self.logit = bias + tf.add_n(wide_terms)[:, 0] + tf.matmul(joined, out)[:, 0]
        self.prob = tf.sigmoid(self.logit)
        self.loss = tf.reduce_mean(
            tf.nn.sigmoid_cross_entropy_with_logits(labels=self.click, logits=self.logit)
        )

    def _train(self):
        opt = tf1.train.AdagradOptimizer(self.lr)
        grads, tvars = zip(*opt.compute_gradients(self.loss))
        grads, self.norm = tf.clip_by_global_norm(grads, 5.0)
        self.train_op = opt.apply_gradients(zip(grads, tvars), global_step=self.step)


def schedule(cfg, i):
    if i < cfg.warmup:
        return cfg.peak_lr * 10 * (i + 1) / cfg.warmup
    done = (i - cfg.warmup) / (cfg.steps - cfg.warmup)
    return 10 * (cfg.final_lr + 0.5 * (cfg.peak_lr - cfg.final_lr) * (1 + math.cos(math.pi * done)))


def auc(y, p):
    order = np.argsort(p)
    rank = np.empty(len(p))
    rank[order] = np.arange(1, len(p) + 1)
    pos = y > 0.5
    n1, n0 = pos.sum(), (~pos).sum()
    return (rank[pos].sum() - n1 * (n1 + 1) / 2) / (n1 * n0)


def main():
    cfg = Config()
    tf1.set_random_seed(11)
    source = ClickLog(cfg)
    holdout = source.sample(20000)
    model = WideDeep(cfg)
    saver = tf1.train.Saver(max_to_keep=2)

    with tf1.Session() as sess:
        sess.run(tf1.global_variables_initializer())
        avg = None
        for i in range(cfg.steps):
            sess.run(tf1.assign(model.lr, schedule(cfg, i)))
            ids, dense, y = source.sample(cfg.batch)
            _, loss, norm = sess.run(
                [model.train_op, model.loss, model.norm],
                feed_dict={model.ids: ids, model.dense: dense, model.click: y},
            )
            avg = loss if avg is None else 0.98 * avg + 0.02 * loss
            if (i + 1) % cfg.eval_every == 0:
                p = sess.run(model.prob, {model.ids: holdout[0], model.dense: holdout[1]})
                log.info(
                    "step %d loss %.4f norm %.3f auc %.4f", i + 1, avg, norm, auc(holdout[2], p)
                )
        saver.save(sess, "./ctr_model", global_step=model.step)


if __name__ == "__main__":
    main()
