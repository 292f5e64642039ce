"""Factorisation machine for ad clicks in graph mode, run by a MonitoredTrainingSession."""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"

import tempfile
import time

import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
tf1.logging.set_verbosity(tf1.logging.ERROR)

FIELDS = 10
PER_FIELD = 800
RANK = 16
# batches grow while the learning rate stays: (steps, batch size)
SCHEDULE = [(700, 512), (500, 2048), (450, 8192)]


class Clicks:
    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.rng = rng
        self.bias = rng.normal(0, 0.5, (FIELDS, PER_FIELD)).astype(np.float32)
        self.vec = rng.normal(0, 0.35, (FIELDS, PER_FIELD, 4)).astype(np.float32)
        self.base = np.arange(FIELDS, dtype=np.int32) * PER_FIELD

    def make(self, n):
        raw = (PER_FIELD * self.rng.random((n, FIELDS)) ** 2).astype(np.int32)
        f = np.arange(FIELDS)
        v = self.vec[f, raw]
        pair = 0.5 * ((v.sum(1) ** 2).sum(-1) - (v**2).sum((1, 2)))
        logit = self.bias[f, raw].sum(1) + pair - 0.8
        click = self.rng.random(n) < 1 / (1 + np.exp(-logit))
        return raw + self.base, click.astype(np.float32)


def build_graph():
    ids = tf1.placeholder(tf.int32, [None, FIELDS], "ids")
    click = tf1.placeholder(tf.float32, [None], "click")
    rows = FIELDS * PER_FIELD
    with tf1.variable_scope("fm"):
        w0 = tf1.get_variable("w0", [], initializer=tf1.zeros_initializer())
        w = tf1.get_variable("w", [rows, 1], initializer=tf1.zeros_initializer())
        v = tf1.get_variable("v", [rows, RANK], initializer=tf1.random_normal_initializer(0, 0.05))
    linear = tf.reduce_sum(tf.nn.embedding_lookup(w, ids), axis=[1, 2])
    e = tf.nn.embedding_lookup(v, ids)
    pair = 0.5 * tf.reduce_sum(tf.square(tf.reduce_sum(e, 1)) - tf.reduce_sum(tf.square(e), 1), 1)
    logit = w0 + linear + pair
    loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=click, logits=logit))
    step = tf1.train.get_or_create_global_step()
    rate = tf1.train.exponential_decay(0.25, step, 400, 0.8)
    train = tf1.train.AdagradOptimizer(rate).minimize(loss, global_step=step)
    return {
        "ids": ids,
        "click": click,
        "loss": loss,
        "train": train,
        "step": step,
        "rate": rate,
        "proba": tf.sigmoid(logit),
    }


class HeldOutHook(tf1.train.SessionRunHook):
    """Scores the held-out days every so many steps."""

    def __init__(self, g, ids, click, every):
        self.g, self.ids, self.click, self.every = g, ids, click, every
        self.sum, self.n, self.began = 0.0, 0, time.time()

    def before_run(self, run_context):
        return tf1.train.SessionRunArgs([self.g["loss"], self.g["step"], self.g["rate"]])

    def after_run(self, run_context, run_values):
        loss, step, rate = run_values.results
        self.sum += loss
        self.n += 1
        if self.n == self.every:
            held = run_context.session.run(
                self.g["loss"], {self.g["ids"]: self.ids, self.g["click"]: self.click}
            )
            print(
                f"step {step:5d}  loss {self.sum / self.n:.4f}  held-out {held:.4f}"
                f"  rate {rate:.4f}  {time.time() - self.began:.1f} s",
                flush=True,
            )
            self.sum, self.n = 0.0, 0


def main():
    source = Clicks(seed=3)
    days = source.make(400_000)
    held_ids, held_click = source.make(20_000)
    order = np.random.default_rng(4)
    total = sum(n for n, _ in SCHEDULE)
    with tempfile.TemporaryDirectory() as logdir, tf.Graph().as_default():
        tf1.set_random_seed(1)
        g = build_graph()
        hooks = [
            tf1.train.StopAtStepHook(last_step=total),
            HeldOutHook(g, held_ids, held_click, 150),
        ]
        plan = iter([size for n, size in SCHEDULE for _ in range(n)])
        with tf1.train.MonitoredTrainingSession(
            checkpoint_dir=logdir,
            hooks=hooks,
            save_checkpoint_steps=total // 2,
            save_summaries_steps=None,
            save_summaries_secs=None,
            log_step_count_steps=None,
        ) as session:
            while not session.should_stop():
                rows = order.integers(0, len(days[1]), next(plan))
                session.run(g["train"], {g["ids"]: days[0][rows], g["click"]: days[1][rows]})
        print("checkpoint:", os.path.basename(tf1.train.latest_checkpoint(logdir)))


if __name__ == "__main__":
    main()
