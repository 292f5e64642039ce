"""Gross weight class of lorries from weigh-in-motion strip signals.

The model of the old toll station, still on graphs and sessions.  Samples are
picked by row number inside the graph, so the loop only has to draw numbers.
"""

import os
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.ERROR)

N = 160_000
STRIPS = 80
CLASSES = 5
BATCH = 512
STEPS = 600
REPORT = 100


def record_traffic(seed=3):
    rng = np.random.RandomState(seed)
    kind = rng.randint(0, CLASSES, size=N)
    axles = 2 + kind
    t = np.linspace(0, 1, STRIPS)
    signal = rng.normal(0, 0.35, size=(N, STRIPS))
    for a in range(CLASSES + 1):
        present = axles > a
        at = (a + 0.5 + rng.normal(0, 0.15, N)) / (CLASSES + 1.5)
        load = rng.gamma(6.0, 0.2, N) * present
        signal += load[:, None] * np.exp(-(((t[None] - at[:, None]) / 0.03) ** 2))
    return signal, kind


def dense(x, units, name, activation=tf.nn.relu):
    with tf.variable_scope(name):
        w = tf.get_variable(
            "w", [int(x.shape[-1]), units], initializer=tf.glorot_uniform_initializer(seed=1)
        )
        b = tf.get_variable("b", [units], initializer=tf.zeros_initializer())
        y = tf.matmul(x, w) + b
        return activation(y) if activation else y


def main():
    signal, kind = record_traffic()
    n_train = int(N * 0.9)

    graph = tf.Graph()
    with graph.as_default():
        tf.set_random_seed(3)
        signals = tf.placeholder(tf.float32, [None, STRIPS], "signals")
        kinds = tf.placeholder(tf.int64, [None], "kinds")
        rows = tf.placeholder(tf.int32, [None], "rows")

        x = tf.gather(signals, rows)
        y = tf.gather(kinds, rows)
        h = dense(x, 512, "l1")
        h = dense(h, 512, "l2")
        h = dense(h, 256, "l3")
        logits = dense(h, CLASSES, "out", None)
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
        )
        hits = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), y), tf.float32))
        step_var = tf.train.get_or_create_global_step()
        rate = tf.train.exponential_decay(1e-3, step_var, 100, 0.9)
        train_op = tf.train.AdamOptimizer(rate).minimize(loss, global_step=step_var)
        saver = tf.train.Saver(max_to_keep=1)
        init = tf.global_variables_initializer()
    graph.finalize()

    rng = np.random.RandomState(11)
    test_rows = np.arange(n_train, N)
    with tf.Session(graph=graph) as sess, tempfile.TemporaryDirectory() as out:
        sess.run(init)
        seen = []
        for step in range(1, STEPS + 1):
            batch = rng.randint(0, n_train, size=BATCH)
            _, value = sess.run(
                [train_op, loss], feed_dict={signals: signal, kinds: kind, rows: batch}
            )
            seen.append(value)
            if step % REPORT == 0:
                acc = sess.run(hits, feed_dict={signals: signal, kinds: kind, rows: test_rows})
                print(
                    "step %4d  loss %.4f  test accuracy %.4f" % (step, np.mean(seen[-REPORT:]), acc)
                )
        saver.save(sess, os.path.join(out, "weighbridge"), global_step=step_var)


if __name__ == "__main__":
    main()
