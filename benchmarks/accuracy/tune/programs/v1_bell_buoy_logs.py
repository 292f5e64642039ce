"""Sea state from the strike log of a bell buoy (TensorFlow 1 graph code).

One record is one watch: the strikes of that watch (30 to 110 of them) with
interval and force.  A gated recurrent cell reads them in a while loop that
stops at the longest record of the batch.
"""

import os
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.ERROR)

STATES = 6
UNITS = 160
BATCH = 96
STEPS = 150


def watches(n, seed):
    rng = np.random.RandomState(seed)
    records, labels = [], rng.randint(0, STATES, size=n)
    for s in labels:
        m = rng.randint(30, 111)
        swell = np.sin(np.arange(m) * (0.15 + 0.07 * s) + rng.uniform(0, 6))
        gap = np.exp(0.4 * swell + rng.normal(0, 0.35, m) - 0.1 * s)
        force = 0.4 + 0.1 * s + 0.3 * swell + rng.normal(0, 0.3, m)
        records.append(np.stack([gap, force], 1).astype(np.float32))
    return records, labels.astype(np.int64)


def pad(records):
    lengths = np.array([len(r) for r in records], np.int32)
    out = np.zeros((len(records), lengths.max(), 2), np.float32)
    for i, r in enumerate(records):
        out[i, : len(r)] = r
    return out, lengths


def gru(x, lengths, units):
    with tf.variable_scope("gru"):
        init = tf.glorot_uniform_initializer(seed=2)
        wx = tf.get_variable("wx", [2, 3 * units], initializer=init)
        wh = tf.get_variable("wh", [units, 2 * units], initializer=init)
        wc = tf.get_variable("wc", [units, units], initializer=init)
        b = tf.get_variable("b", [3 * units], initializer=tf.zeros_initializer())
    total = tf.shape(x)[1]
    flat = tf.matmul(tf.reshape(x, [-1, 2]), wx) + b
    inputs = tf.transpose(tf.reshape(flat, [tf.shape(x)[0], total, 3 * units]), [1, 0, 2])
    array = tf.TensorArray(tf.float32, size=total).unstack(inputs)

    def body(t, h):
        xi = array.read(t)
        gates = tf.sigmoid(xi[:, : 2 * units] + tf.matmul(h, wh))
        r, z = tf.split(gates, 2, axis=1)
        c = tf.tanh(xi[:, 2 * units :] + tf.matmul(r * h, wc))
        new = z * h + (1 - z) * c
        live = tf.cast(t < lengths, tf.float32)[:, None]
        return t + 1, live * new + (1 - live) * h

    start = tf.zeros([tf.shape(x)[0], units])
    _, last = tf.while_loop(lambda t, h: t < total, body, [0, start])
    return last


def main():
    records, labels = watches(2400, 1)
    test_x, test_len = pad(records[2000:])
    graph = tf.Graph()
    with graph.as_default():
        tf.set_random_seed(8)
        x = tf.placeholder(tf.float32, [None, None, 2], "strikes")
        n = tf.placeholder(tf.int32, [None], "lengths")
        y = tf.placeholder(tf.int64, [None], "state")
        h = gru(x, n, UNITS)
        w = tf.get_variable(
            "w_out", [UNITS, STATES], initializer=tf.glorot_uniform_initializer(seed=4)
        )
        logits = tf.matmul(h, w)
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
        )
        accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), y), tf.float32))
        step_var = tf.train.get_or_create_global_step()
        opt = tf.train.AdamOptimizer(3e-3)
        grads, variables = zip(*opt.compute_gradients(loss))
        grads, norm = tf.clip_by_global_norm(grads, 2.0)
        train_op = opt.apply_gradients(zip(grads, variables), global_step=step_var)
        tf.summary.scalar("loss", loss)
        tf.summary.scalar("grad_norm", norm)
        merged = tf.summary.merge_all()
        saver = tf.train.Saver(max_to_keep=3)
        init = tf.global_variables_initializer()
    graph.finalize()

    rng = np.random.RandomState(5)
    with tf.Session(graph=graph) as sess, tempfile.TemporaryDirectory() as out:
        writer = tf.summary.FileWriter(out)
        sess.run(init)
        for step in range(1, STEPS + 1):
            pick = rng.randint(0, 2000, size=BATCH)
            bx, bn = pad([records[i] for i in pick])
            _, value, text = sess.run(
                [train_op, loss, merged], feed_dict={x: bx, n: bn, y: labels[pick]}
            )
            writer.add_summary(text, step)
            if step % 25 == 0:
                saver.save(sess, os.path.join(out, "buoy"), global_step=step)
                print("step %4d  loss %.4f" % (step, value))
            if step % 75 == 0:
                acc = sess.run(accuracy, feed_dict={x: test_x, n: test_len, y: labels[2000:]})
                print("          test accuracy %.4f" % acc)
        writer.close()


if __name__ == "__main__":
    main()
