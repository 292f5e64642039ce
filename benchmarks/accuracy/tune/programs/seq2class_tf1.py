# -*- coding: utf-8 -*-
# Sensor sequence classification. Ported from the 2017 code base; still graph mode.
from __future__ import print_function

import os
import sys
import tempfile
import time

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

flags = tf.app.flags
flags.DEFINE_integer("num_steps", 900, "training steps")
flags.DEFINE_integer("batch_size", 64, "")
flags.DEFINE_integer("seq_len", 40, "")
flags.DEFINE_integer("num_units", 160, "GRU size")
flags.DEFINE_integer("num_channels", 8, "")
flags.DEFINE_integer("num_classes", 6, "")
flags.DEFINE_float("learning_rate", 0.002, "")
flags.DEFINE_float("decay", 0.7, "multiplied every 200 steps")
flags.DEFINE_string("logdir", None, "")
FLAGS = flags.FLAGS


def make_data(n, seed):
    rs = np.random.RandomState(seed)
    y = rs.randint(0, FLAGS.num_classes, n)
    t = np.arange(FLAGS.seq_len)[None, :, None]
    freq = 0.15 + 0.06 * y[:, None, None] + 0.01 * rs.randn(n, 1, 1)
    phase = rs.uniform(0, 2 * np.pi, (n, 1, FLAGS.num_channels))
    x = np.sin(freq * t + phase) + 0.8 * rs.randn(n, FLAGS.seq_len, FLAGS.num_channels)
    return x.astype(np.float32), y.astype(np.int32)


def gru_layer(inputs, units, scope):
    with tf.variable_scope(scope):
        dim = inputs.shape[-1]
        w = tf.get_variable("w", [dim, 3 * units])
        u_zr = tf.get_variable("u_zr", [units, 2 * units])
        u_h = tf.get_variable("u_h", [units, units])
        b = tf.get_variable("b", [3 * units], initializer=tf.zeros_initializer())
        xs = tf.unstack(tf.tensordot(inputs, w, 1) + b, axis=1)
        h = tf.zeros([tf.shape(inputs)[0], units])
        outs = []
        for x in xs:
            x_zr, x_h = x[:, : 2 * units], x[:, 2 * units :]
            z, r = tf.split(tf.sigmoid(x_zr + tf.matmul(h, u_zr)), 2, 1)
            cand = tf.tanh(x_h + tf.matmul(r * h, u_h))
            h = (1.0 - z) * h + z * cand
            outs.append(h)
        return tf.stack(outs, 1)


class Model(object):
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, FLAGS.seq_len, FLAGS.num_channels], "x")
        self.y = tf.placeholder(tf.int32, [None], "y")
        self.global_step = tf.train.get_or_create_global_step()
        self.lr = tf.get_variable(
            "lr", [], initializer=tf.constant_initializer(FLAGS.learning_rate), trainable=False
        )
        self.new_lr = tf.placeholder(tf.float32, [], "new_lr")
        self.set_lr = tf.assign(self.lr, self.new_lr)

        h = gru_layer(self.x, FLAGS.num_units, "gru1")
        h = gru_layer(h, FLAGS.num_units, "gru2")
        pooled = tf.reduce_mean(h, 1)
        w = tf.get_variable("softmax_w", [FLAGS.num_units, FLAGS.num_classes])
        b = tf.get_variable("softmax_b", [FLAGS.num_classes], initializer=tf.zeros_initializer())
        logits = tf.nn.xw_plus_b(pooled, w, b)
        self.loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=self.y, logits=logits)
        )
        self.acc = tf.reduce_mean(
            tf.cast(tf.equal(tf.argmax(logits, 1, output_type=tf.int32), self.y), tf.float32)
        )
        opt = tf.train.AdamOptimizer(self.lr)
        gv = opt.compute_gradients(self.loss)
        grads, norm = tf.clip_by_global_norm([g for g, _ in gv], 5.0)
        self.train_op = opt.apply_gradients(
            zip(grads, [v for _, v in gv]), global_step=self.global_step
        )

        tf.summary.scalar("loss", self.loss)
        tf.summary.scalar("accuracy", self.acc)
        tf.summary.scalar("grad_norm", norm)
        self.summary = tf.summary.merge_all()


def main(_):
    logdir = FLAGS.logdir or tempfile.mkdtemp()
    np.random.seed(0)
    tf.set_random_seed(0)
    x_train, y_train = make_data(6000, 0)
    x_dev, y_dev = make_data(256, 1)
    model = Model()
    saver = tf.train.Saver(max_to_keep=5)
    writer = tf.summary.FileWriter(logdir, tf.get_default_graph())
    losses, accs = [], []
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
        sess.run(tf.global_variables_initializer())
        start = time.time()
        for step in range(1, FLAGS.num_steps + 1):
            pick = np.random.choice(len(x_train), FLAGS.batch_size, replace=False)
            feed = {model.x: x_train[pick], model.y: y_train[pick]}
            _, loss, acc, summ = sess.run(
                [model.train_op, model.loss, model.acc, model.summary], feed
            )
            losses.append(loss)
            accs.append(acc)
            writer.add_summary(summ, step)
            if step % 10 == 0:
                sys.stdout.write(
                    "step %d  avg loss %.4f  avg acc %.3f\n"
                    % (step, np.mean(losses), np.mean(accs[-100:]))
                )
                sys.stdout.flush()
            if step % 100 == 0:
                dev = sess.run([model.loss, model.acc], {model.x: x_dev, model.y: y_dev})
                print(
                    "  dev loss %.4f acc %.3f   %.1f steps/s"
                    % (dev[0], dev[1], step / (time.time() - start))
                )
                writer.flush()
            if step % 200 == 0:
                saver.save(sess, os.path.join(logdir, "model"), global_step=step)
                sess.run(
                    model.set_lr, {model.new_lr: FLAGS.learning_rate * FLAGS.decay ** (step // 200)}
                )
    writer.close()


if __name__ == "__main__":
    tf.app.run()
