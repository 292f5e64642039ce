"""Age-depth regression for peat cores (old TF1 code, still runs through compat.v1)."""

import argparse
import tempfile
import os

import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
tf1.disable_eager_execution()

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=400)
parser.add_argument("--batch", type=int, default=256)
parser.add_argument("--hidden", type=int, default=1024)
parser.add_argument("--lr", type=float, default=2e-3)
parser.add_argument("--seed", type=int, default=5)
args = parser.parse_args()

rng = np.random.RandomState(args.seed)
tf1.set_random_seed(args.seed)

N_PROXIES = 24  # charcoal, testate amoebae, pollen groups ...


def simulate_cores(n):
    depth = rng.uniform(0, 8, size=(n, 1))
    rate = rng.gamma(4.0, 0.25, size=(n, 1))
    mix = rng.randn(1, N_PROXIES) * 0.5
    proxies = np.sin(depth * mix) + 0.1 * rng.randn(n, N_PROXIES)
    age = depth / (0.4 + rate) + 0.05 * rng.randn(n, 1)
    x = np.concatenate([depth, rate, proxies], axis=1)
    return x.astype("float32"), age.astype("float32")


def dense(x, units, name, act=None):
    with tf1.variable_scope(name):
        w = tf1.get_variable(
            "w", [int(x.shape[1]), units], initializer=tf1.glorot_uniform_initializer()
        )
        b = tf1.get_variable("b", [units], initializer=tf1.zeros_initializer())
        y = tf.matmul(x, w) + b
        return act(y) if act else y


class AgeNet:
    def __init__(self, n_in):
        self.x = tf1.placeholder(tf.float32, [None, n_in], "x")
        self.y = tf1.placeholder(tf.float32, [None, 1], "age")
        self.lr = tf1.get_variable("lr", initializer=args.lr, trainable=False)
        h = dense(self.x, args.hidden, "h1", tf.nn.relu)
        h = dense(h, args.hidden, "h2", tf.nn.relu)
        self.age = dense(h, 1, "out")
        self.err = tf.abs(self.age - self.y)
        self.loss = tf.reduce_mean(tf1.losses.huber_loss(self.y, self.age))
        self.train_op = tf1.train.AdamOptimizer(self.lr).minimize(self.loss)

    def anneal(self, sess, step):
        value = args.lr * 0.5 * (1 + np.cos(np.pi * step / args.steps))
        sess.run(self.lr.assign(value))


def split(x, y, frac=0.9):
    k = int(len(x) * frac)
    return (x[:k], y[:k]), (x[k:], y[k:])


def main():
    x, y = simulate_cores(20000)
    mu, sd = x.mean(0), x.std(0) + 1e-6
    x = (x - mu) / sd
    (xt, yt), (xv, yv) = split(x, y)
    net = AgeNet(x.shape[1])
    saver = tf1.train.Saver(max_to_keep=1)
    out = tempfile.mkdtemp(prefix="peat_")
    with tf1.Session() as sess:
        sess.run(tf1.global_variables_initializer())
        order = rng.permutation(len(xt))
        pos = 0
        for step in range(1, args.steps + 1):
            if pos + args.batch > len(order):
                order = rng.permutation(len(xt))
                pos = 0
            idx = order[pos : pos + args.batch]
            pos += args.batch
            net.anneal(sess, step)
            _, loss = sess.run([net.train_op, net.loss], {net.x: xt[idx], net.y: yt[idx]})
            if step % 80 == 0:
                mae = sess.run(net.err, {net.x: xv, net.y: yv}).mean()
                print("step %4d  huber %.4f  val MAE %.3f ka" % (step, loss, mae))
        path = saver.save(sess, os.path.join(out, "agenet"))
        print("saved to", path)


if __name__ == "__main__":
    main()
