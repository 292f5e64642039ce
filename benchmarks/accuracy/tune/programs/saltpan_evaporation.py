# Evaporation rate of salt pans from three days of weather-station readings.
# (Graph code from 2017, runs with compat.v1.)
import os
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()

FLAGS = dict(
    hours=72,
    channels=8,
    hidden=96,
    batch=128,
    steps=560,
    lr=1e-3,
    clip=5.0,
    l2=1e-5,
    eval_every=140,
)


def simulate(n, seed):
    rng = np.random.RandomState(seed)
    h = np.arange(FLAGS["hours"])[None, :]
    phase = rng.uniform(0, 2 * np.pi, (n, 1))
    sun = np.maximum(0, np.sin(2 * np.pi * h / 24 + phase)) * rng.uniform(0.4, 1.0, (n, 1))
    wind = np.abs(np.cumsum(rng.normal(0, 0.2, (n, FLAGS["hours"])), 1))
    humid = rng.uniform(0.2, 0.9, (n, 1)) - 0.2 * sun + rng.normal(0, 0.05, sun.shape)
    rest = rng.normal(0, 1, (n, FLAGS["hours"], FLAGS["channels"] - 3))
    x = np.concatenate([np.stack([sun, wind, humid], -1), rest], -1)
    rate = (sun * (1 - humid) * (1 + 0.3 * np.sqrt(wind))).mean(1) * 10
    crust = (rate > 2.0).astype(np.int64)
    return x.astype(np.float32), rate.astype(np.float32), crust


def conv1d(x, width, filters, name):
    with tf.variable_scope(name):
        w = tf.get_variable(
            "w", [width, x.shape[-1], filters], initializer=tf.glorot_uniform_initializer()
        )
        b = tf.get_variable("b", [filters], initializer=tf.zeros_initializer())
        tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, FLAGS["l2"] * tf.nn.l2_loss(w))
        return tf.nn.relu(tf.nn.conv1d(x, w, stride=1, padding="SAME") + b)


def dense(x, units, name):
    with tf.variable_scope(name):
        w = tf.get_variable("w", [x.shape[-1], units], initializer=tf.glorot_uniform_initializer())
        b = tf.get_variable("b", [units], initializer=tf.zeros_initializer())
        return tf.matmul(x, w) + b


class PanNet(object):
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, FLAGS["hours"], FLAGS["channels"]], "x")
        self.rate = tf.placeholder(tf.float32, [None], "rate")
        self.crust = tf.placeholder(tf.int64, [None], "crust")
        self.lr = tf.placeholder(tf.float32, [], "lr")

        net = conv1d(self.x, 5, FLAGS["hidden"], "c1")
        net = conv1d(net, 5, FLAGS["hidden"], "c2")
        net = tf.reduce_max(tf.reshape(net, [-1, FLAGS["hours"] // 2, 2, FLAGS["hidden"]]), 2)
        net = conv1d(net, 3, FLAGS["hidden"], "c3")
        net = tf.reduce_mean(net, 1)
        self.rate_hat = tf.squeeze(dense(net, 1, "rate"), -1)
        logits = dense(net, 2, "crust")

        self.mse = tf.reduce_mean(tf.square(self.rate_hat - self.rate))
        xent = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=self.crust, logits=logits)
        )
        reg = tf.add_n(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))
        self.loss = self.mse + 0.5 * xent + reg
        self.acc = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), self.crust), tf.float32))

        self.global_step = tf.train.get_or_create_global_step()
        opt = tf.train.AdamOptimizer(self.lr)
        grads, variables = zip(*opt.compute_gradients(self.loss))
        grads, self.gnorm = tf.clip_by_global_norm(grads, FLAGS["clip"])
        self.train_op = opt.apply_gradients(zip(grads, variables), global_step=self.global_step)


def batches(x, rate, crust, size, seed):
    rng = np.random.RandomState(seed)
    while True:
        order = rng.permutation(len(x))
        for i in range(0, len(x) - size + 1, size):
            rows = order[i : i + size]
            yield x[rows], rate[rows], crust[rows]


def main():
    tf.set_random_seed(9)
    x, rate, crust = simulate(6000, 0)
    xv, rv, cv = simulate(800, 1)
    net = PanNet()
    saver = tf.train.Saver(max_to_keep=2)
    out = tempfile.mkdtemp(prefix="saltpan_")
    feed_batches = batches(x, rate, crust, FLAGS["batch"], 2)
    history = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        tf.get_default_graph().finalize()
        for step in range(FLAGS["steps"]):
            bx, br, bc = next(feed_batches)
            lr = FLAGS["lr"] * min(1.0, (step + 1) / 50.0)
            feed = {net.x: bx, net.rate: br, net.crust: bc, net.lr: lr}
            sess.run(net.train_op, feed_dict=feed)
            loss_value = sess.run(net.loss, feed_dict=feed)
            acc_value = sess.run(net.acc, feed_dict=feed)
            norm_value = sess.run(net.gnorm, feed_dict=feed)
            history.append((loss_value, acc_value, norm_value))
            if (step + 1) % 40 == 0:
                l, a, g = np.mean(history[-40:], axis=0)
                print("step %d loss %.4f acc %.3f gnorm %.2f" % (step + 1, l, a, g))
            if (step + 1) % FLAGS["eval_every"] == 0:
                mse, acc = sess.run([net.mse, net.acc], {net.x: xv, net.rate: rv, net.crust: cv})
                print("  stations held out: mse %.4f crust acc %.3f" % (mse, acc))
                saver.save(sess, os.path.join(out, "pan"), global_step=net.global_step)


if __name__ == "__main__":
    main()
