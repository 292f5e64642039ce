"""Character level language model.

Originally written against TF 1.8, moved over to tf.compat.v1 when we upgraded
the cluster.  Trains a one-layer GRU on a synthetic "assembler" corpus.
"""

import argparse
import os
import random
import sys
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

parser = argparse.ArgumentParser()
parser.add_argument("--num_steps", type=int, default=960)
parser.add_argument("--batch_size", type=int, default=64)
parser.add_argument("--seq_len", type=int, default=24)
parser.add_argument("--hidden", type=int, default=224)
parser.add_argument("--base_lr", type=float, default=0.004)
parser.add_argument("--lr_every", type=int, default=3)
parser.add_argument("--warmup", type=int, default=100)
parser.add_argument("--log_every", type=int, default=100)
FLAGS = parser.parse_args()


def make_corpus(path, n_lines=6000):
    rnd = random.Random(17)
    ops = ["mov", "add", "sub", "cmp", "jmp", "jne", "push", "pop", "call"]
    regs = ["eax", "ebx", "ecx", "edx", "esi", "edi"]
    with open(path, "w") as f:
        for _ in range(n_lines):
            op = rnd.choice(ops)
            if op in ("jmp", "jne", "call"):
                f.write("%s L%d\n" % (op, rnd.randrange(64)))
            elif op in ("push", "pop"):
                f.write("%s %s\n" % (op, rnd.choice(regs)))
            else:
                f.write("%s %s, %s\n" % (op, rnd.choice(regs), rnd.choice(regs)))


class TextLoader(object):
    def __init__(self, path, batch_size, seq_len):
        with open(path) as f:
            text = f.read()
        self.chars = sorted(set(text))
        self.vocab = {c: i for i, c in enumerate(self.chars)}
        data = np.array([self.vocab[c] for c in text], dtype=np.int32)
        per_batch = batch_size * seq_len
        n = (len(data) - 1) // per_batch
        x = data[: n * per_batch].reshape(batch_size, -1)
        y = data[1 : n * per_batch + 1].reshape(batch_size, -1)
        self.x_batches = np.split(x, n, axis=1)
        self.y_batches = np.split(y, n, axis=1)
        self.pointer = 0

    def next_batch(self):
        i = self.pointer % len(self.x_batches)
        self.pointer += 1
        return self.x_batches[i], self.y_batches[i]


class CharModel(object):
    def __init__(self, vocab_size, hidden, seq_len):
        self.inputs = tf.placeholder(tf.int32, [None, seq_len], name="inputs")
        self.targets = tf.placeholder(tf.int32, [None, seq_len], name="targets")
        self.init_state = tf.placeholder(tf.float32, [None, hidden], name="state")
        self.lr = tf.get_variable("lr", initializer=0.0, trainable=False)

        emb = tf.get_variable("embedding", [vocab_size, 48])
        x = tf.unstack(tf.nn.embedding_lookup(emb, self.inputs), axis=1)
        w_gates = tf.get_variable("w_gates", [48 + hidden, 2 * hidden])
        b_gates = tf.get_variable("b_gates", [2 * hidden], initializer=tf.ones_initializer())
        w_cand = tf.get_variable("w_cand", [48 + hidden, hidden])
        b_cand = tf.get_variable("b_cand", [hidden], initializer=tf.zeros_initializer())

        h = self.init_state
        outs = []
        for x_t in x:
            gates = tf.sigmoid(tf.matmul(tf.concat([x_t, h], 1), w_gates) + b_gates)
            r, z = tf.split(gates, 2, axis=1)
            cand = tf.tanh(tf.matmul(tf.concat([x_t, r * h], 1), w_cand) + b_cand)
            h = z * h + (1.0 - z) * cand
            outs.append(h)
        self.final_state = h

        w_out = tf.get_variable("w_out", [hidden, vocab_size])
        flat = tf.reshape(tf.stack(outs, axis=1), [-1, hidden])
        self.logits = tf.matmul(flat, w_out)
        labels = tf.reshape(self.targets, [-1])
        self.loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=self.logits)
        )
        hits = tf.equal(tf.argmax(self.logits, 1, output_type=tf.int32), labels)
        self.accuracy = tf.reduce_mean(tf.cast(hits, tf.float32))

        tvars = tf.trainable_variables()
        grads, self.gnorm = tf.clip_by_global_norm(tf.gradients(self.loss, tvars), 5.0)
        opt = tf.train.AdamOptimizer(self.lr)
        self.train_op = opt.apply_gradients(zip(grads, tvars))


def lr_at(step):
    if step < FLAGS.warmup:
        return FLAGS.base_lr * (step + 1) / FLAGS.warmup
    frac = (step - FLAGS.warmup) / float(max(1, FLAGS.num_steps - FLAGS.warmup))
    return FLAGS.base_lr * 0.5 * (1.0 + np.cos(np.pi * frac))


def main():
    workdir = tempfile.mkdtemp(prefix="char_gru_")
    corpus = os.path.join(workdir, "input.txt")
    make_corpus(corpus)
    loader = TextLoader(corpus, FLAGS.batch_size, FLAGS.seq_len)
    tf.set_random_seed(5)
    model = CharModel(len(loader.chars), FLAGS.hidden, FLAGS.seq_len)
    saver = tf.train.Saver(max_to_keep=2)

    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        state = np.zeros([FLAGS.batch_size, FLAGS.hidden], np.float32)
        running = None
        for step in range(FLAGS.num_steps):
            x, y = loader.next_batch()
            feed = {model.inputs: x, model.targets: y, model.init_state: state}

            if step % FLAGS.lr_every == 0:
                sess.run(tf.assign(model.lr, lr_at(step)))
            sess.run(model.train_op, feed)
            loss, acc, gnorm, state = sess.run(
                [model.loss, model.accuracy, model.gnorm, model.final_state], feed
            )

            running = loss if running is None else 0.98 * running + 0.02 * loss
            if step % FLAGS.log_every == 0:
                print("step %5d  loss %.4f  acc %.3f  |g| %.3f" % (step, running, acc, gnorm))
                sys.stdout.flush()

        saver.save(sess, os.path.join(workdir, "model.ckpt"))
    print("done, smoothed loss %.4f" % running)


if __name__ == "__main__":
    main()
