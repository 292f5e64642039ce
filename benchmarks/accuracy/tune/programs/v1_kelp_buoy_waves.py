"""Significant wave height at a kelp farm from three buoys -- TF1 style graph and session.

The script of an old group: placeholders, a MonitoredSession-free loop, reader threads
that cut windows out of the series, a batch that grows at fixed steps.
"""

import argparse
import os
import queue
import tempfile
import threading
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
tf1.disable_eager_execution()


def get_flags():
    ap = argparse.ArgumentParser()
    ap.add_argument("--hours", type=int, default=30000)
    ap.add_argument("--window", type=int, default=48)
    ap.add_argument("--ahead", type=int, default=6)
    ap.add_argument("--batches", type=int, nargs="+", default=[128, 256, 512])
    ap.add_argument("--steps", type=int, default=230, help="updates at each batch size")
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--readers", type=int, default=1)
    ap.add_argument("--seed", type=int, default=404)
    return ap.parse_args()


# ------------------------------------------------------------- series
def simulate_buoys(hours, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(hours)
    storm = np.zeros(hours)
    for start in rng.integers(0, hours, hours // 200):
        n = min(int(rng.integers(12, 72)), hours - start)
        storm[start : start + n] += rng.gamma(2.0, 0.8) * np.hanning(n + 2)[1:-1]
    swell = 1.2 + 0.4 * np.sin(2 * np.pi * t / (24 * 14)) + storm
    cols = []
    for lag in (0, 3, 7):
        h = np.roll(swell, lag) + 0.08 * rng.normal(size=hours)
        period = 6.0 + 1.5 * h + 0.3 * rng.normal(size=hours)
        cols += [
            h,
            period / 10.0,
            np.sin(2 * np.pi * (t + lag) / 12.4),
            np.cos(2 * np.pi * (t + lag) / 12.4),
        ]
    return np.stack(cols, 1).astype("float32"), swell.astype("float32")


class WindowReader(threading.Thread):
    """Cuts windows and hands whole batches over; stops when told."""

    def __init__(self, series, target, flags, plan, out, lo, hi, seed):
        super().__init__(daemon=True)
        self.series, self.target = series, target
        self.flags, self.plan, self.out = flags, plan, out
        self.lo, self.hi = lo, hi
        self.rng = np.random.default_rng(seed)

    def run(self):
        offsets = np.arange(self.flags.window)
        for batch in self.plan:
            start = self.rng.integers(self.lo, self.hi, batch)
            x = self.series[start[:, None] + offsets]
            y = self.target[start + self.flags.window + self.flags.ahead]
            self.out.put((x, y))


# ------------------------------------------------------------- graph
def conv(x, filters, width, dilation, name):
    with tf1.variable_scope(name):
        n_in = int(x.shape[-1])
        w = tf1.get_variable(
            "w", [width, n_in, filters], initializer=tf1.glorot_uniform_initializer()
        )
        b = tf1.get_variable("b", [filters], initializer=tf1.zeros_initializer())
        pad = tf.pad(x, [[0, 0], [dilation * (width - 1), 0], [0, 0]])
        return tf.nn.relu(tf.nn.conv1d(pad, w, 1, "VALID", dilations=dilation) + b)


def dense(x, units, name):
    with tf1.variable_scope(name):
        w = tf1.get_variable(
            "w", [int(x.shape[-1]), units], initializer=tf1.glorot_uniform_initializer()
        )
        b = tf1.get_variable("b", [units], initializer=tf1.zeros_initializer())
        return x @ w + b


class WaveGraph:
    def __init__(self, flags, n_cols):
        self.x = tf1.placeholder(tf.float32, [None, flags.window, n_cols], "x")
        self.y = tf1.placeholder(tf.float32, [None], "y")
        self.lr = tf1.placeholder_with_default(flags.lr, [], "lr")
        h = conv(self.x, 48, 3, 1, "c1")
        for i, d in enumerate((2, 4, 8)):
            h = h + conv(h, 48, 3, d, f"r{i}")
        last = tf.concat([h[:, -1], tf.reduce_mean(h, 1)], -1)
        self.mean = dense(tf.nn.relu(dense(last, 64, "d1")), 1, "mean")[:, 0]
        err = self.mean - self.y
        self.loss = tf.reduce_mean(tf.where(tf.abs(err) < 0.5, err * err, tf.abs(err) - 0.25))
        self.mae = tf.reduce_mean(tf.abs(err))
        self.step = tf1.train.get_or_create_global_step()
        opt = tf1.train.AdamOptimizer(self.lr)
        grads, variables = zip(*opt.compute_gradients(self.loss))
        grads, self.norm = tf.clip_by_global_norm(grads, 5.0)
        self.train = opt.apply_gradients(zip(grads, variables), global_step=self.step)
        self.init = tf1.global_variables_initializer()
        self.saver = tf1.train.Saver(max_to_keep=2)


class Console:
    def __init__(self, every):
        self.every = every
        self.losses = []
        self.t0 = time.time()

    def note(self, step, batch, loss):
        self.losses.append(loss)
        if step % self.every == 0:
            print(
                f"step {step:4d}  batch {batch:4d}  loss {np.mean(self.losses):.4f}  "
                f"{time.time() - self.t0:.2f}s",
                flush=True,
            )
            self.losses, self.t0 = [], time.time()


def held_out(series, target, flags, lo):
    start = np.arange(lo, len(series) - flags.window - flags.ahead - 1, 12)
    x = series[start[:, None] + np.arange(flags.window)]
    return x, target[start + flags.window + flags.ahead]


def main():
    flags = get_flags()
    tf1.set_random_seed(flags.seed)
    folder = tempfile.mkdtemp(prefix="buoys_")
    series, target = simulate_buoys(flags.hours, flags.seed)
    cut = int(0.9 * flags.hours)
    plan = [b for b in flags.batches for _ in range(flags.steps)]
    batches = queue.Queue(maxsize=4)
    for r in range(flags.readers):
        WindowReader(
            series,
            target,
            flags,
            plan[r :: flags.readers],
            batches,
            0,
            cut - flags.window - flags.ahead,
            flags.seed + r,
        ).start()

    graph = WaveGraph(flags, series.shape[1])
    test_x, test_y = held_out(series, target, flags, cut)
    console = Console(115)
    config = tf1.ConfigProto(allow_soft_placement=True)
    with tf1.Session(config=config) as sess:
        sess.run(graph.init)
        tf1.get_default_graph().finalize()
        for step in range(1, len(plan) + 1):
            x, y = batches.get()
            lr = flags.lr * min(1.0, step / 20.0)
            _, loss = sess.run([graph.train, graph.loss], {graph.x: x, graph.y: y, graph.lr: lr})
            console.note(step, len(y), loss)
            if step % flags.steps == 0:
                mae = sess.run(graph.mae, {graph.x: test_x, graph.y: test_y})
                graph.saver.save(
                    sess, os.path.join(folder, "waves"), global_step=step, write_meta_graph=False
                )
                print(f"   held out: {mae:.4f} m", flush=True)


if __name__ == "__main__":
    main()
