"""The adding problem with a GRU, TF1 style (graph and session).

The network sees pairs (value, marker) and has to output the sum of the two
marked values. Sequences get longer in stages.
"""

from __future__ import print_function

import argparse
import os
import tempfile
import time

import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
tf1.disable_eager_execution()

STAGES = [(20, 900), (40, 800), (80, 600), (160, 450)]  # (length, steps)


def adding_batch(rng, batch, length):
    x = np.zeros((length, batch, 2), np.float32)
    x[:, :, 0] = rng.random((length, batch))
    cols = np.arange(batch)
    first = rng.integers(0, length // 2, batch)
    second = rng.integers(length // 2, length, batch)
    x[first, cols, 1] = 1.0
    x[second, cols, 1] = 1.0
    y = x[first, cols, 0] + x[second, cols, 0]
    return x, y.astype(np.float32)


def gru(inputs, units):
    """inputs: [time, batch, features]; returns the last state."""
    features = inputs.shape[-1]
    with tf1.variable_scope("gru"):
        w_gates = tf1.get_variable("w_gates", [features + units, 2 * units])
        b_gates = tf1.get_variable("b_gates", [2 * units], initializer=tf1.ones_initializer())
        w_cand = tf1.get_variable("w_cand", [features + units, units])
        b_cand = tf1.get_variable("b_cand", [units], initializer=tf1.zeros_initializer())
    steps = tf.shape(inputs)[0]
    frames = tf.TensorArray(tf.float32, size=steps).unstack(inputs)

    def body(i, state):
        x = frames.read(i)
        x.set_shape([None, features])
        gates = tf.sigmoid(tf.matmul(tf.concat([x, state], 1), w_gates) + b_gates)
        reset, update = tf.split(gates, 2, axis=1)
        cand = tf.tanh(tf.matmul(tf.concat([x, reset * state], 1), w_cand) + b_cand)
        return i + 1, update * state + (1.0 - update) * cand

    start = tf.zeros([tf.shape(inputs)[1], units])
    _, last = tf1.while_loop(lambda i, _: i < steps, body, [tf.constant(0), start])
    last.set_shape([None, units])
    return last


def build_graph(units, decay_steps):
    g = {}
    g["x"] = tf1.placeholder(tf.float32, [None, None, 2], "x")
    g["y"] = tf1.placeholder(tf.float32, [None], "y")
    state = gru(g["x"], units)
    w = tf1.get_variable("w_out", [units, 1])
    b = tf1.get_variable("b_out", [1], initializer=tf1.zeros_initializer())
    pred = tf.squeeze(tf.matmul(state, w) + b, 1)
    g["loss"] = tf.reduce_mean(tf.square(pred - g["y"]))
    g["step"] = tf1.train.get_or_create_global_step()
    lr = tf1.train.exponential_decay(3e-3, g["step"], decay_steps, 0.5)
    opt = tf1.train.AdamOptimizer(lr)
    grads, variables = zip(*opt.compute_gradients(g["loss"]))
    grads, norm = tf.clip_by_global_norm(grads, 1.0)
    g["train"] = opt.apply_gradients(zip(grads, variables), global_step=g["step"])
    tf1.summary.scalar("loss", g["loss"])
    tf1.summary.scalar("grad_norm", norm)
    tf1.summary.scalar("lr", lr)
    g["summary"] = tf1.summary.merge_all()
    g["init"] = tf1.global_variables_initializer()
    g["saver"] = tf1.train.Saver(max_to_keep=2)
    return g


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--units", type=int, default=48)
    parser.add_argument("--batch", type=int, default=48)
    parser.add_argument(
        "--scale", type=float, default=1.0, help="multiplies the steps of each stage"
    )
    parser.add_argument("--summary-every", type=int, default=25)
    parser.add_argument("--logdir", default=None)
    args = parser.parse_args()
    logdir = args.logdir or tempfile.mkdtemp(prefix="addtask_")
    rng = np.random.default_rng(0)
    tf1.set_random_seed(0)
    g = build_graph(args.units, decay_steps=1000)
    tf1.get_default_graph().finalize()

    with tf1.Session() as sess:
        sess.run(g["init"])
        writer = tf1.summary.FileWriter(logdir, sess.graph)
        start = time.time()
        for stage, (length, steps) in enumerate(STAGES):
            steps = max(1, int(steps * args.scale))
            val_x, val_y = adding_batch(np.random.default_rng(1000 + length), 256, length)
            for i in range(steps):
                x, y = adding_batch(rng, args.batch, length)
                feed = {g["x"]: x, g["y"]: y}
                if i % args.summary_every == 0:
                    _, loss, summary, step = sess.run(
                        [g["train"], g["loss"], g["summary"], g["step"]], feed
                    )
                    writer.add_summary(summary, step)
                    if i % 100 == 0:
                        print(
                            "stage %d length %d step %d loss %.4f (%.1fs)"
                            % (stage, length, step, loss, time.time() - start)
                        )
                else:
                    sess.run(g["train"], feed)
            val = sess.run(g["loss"], {g["x"]: val_x, g["y"]: val_y})
            path = g["saver"].save(sess, os.path.join(logdir, "model"), global_step=g["step"])
            print(
                "stage %d done: validation mse %.4f, saved %s"
                % (stage, val, os.path.basename(path))
            )
        writer.close()


if __name__ == "__main__":
    main()
