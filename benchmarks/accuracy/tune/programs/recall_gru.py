"""A hand-written GRU learns to repeat ever longer strings (TF1 graph and session)."""

import os
import tempfile
import time

import numpy as np
import tensorflow as tf2

tf = tf2.compat.v1
tf.disable_eager_execution()
tf.disable_resource_variables()

SYMBOLS, UNITS, BATCH = 8, 160, 64


class Graph:
    def __init__(self):
        self.tokens = tf.placeholder(tf.int32, [None, BATCH], "tokens")  # time-major
        self.targets = tf.placeholder(tf.int32, [None, BATCH], "targets")
        self.lr = tf.placeholder(tf.float32, [], "lr")
        with tf.variable_scope("gru", initializer=tf.glorot_uniform_initializer(seed=4)):
            wx = tf.get_variable("wx", [SYMBOLS + 2, 3 * UNITS])
            wh = tf.get_variable("wh", [UNITS, 2 * UNITS])
            wc = tf.get_variable("wc", [UNITS, UNITS])
            b = tf.get_variable("b", [3 * UNITS], initializer=tf.zeros_initializer())
            wo = tf.get_variable("wo", [UNITS, SYMBOLS])
        steps = tf.shape(self.tokens)[0]
        inputs = tf.nn.embedding_lookup(wx, self.tokens) + b
        source = tf.TensorArray(tf.float32, steps).unstack(inputs)
        states = tf.TensorArray(tf.float32, steps)

        def body(t, h, out):
            x = source.read(t)
            gates = tf.sigmoid(x[:, : 2 * UNITS] + tf.matmul(h, wh))
            z, r = gates[:, :UNITS], gates[:, UNITS:]
            c = tf.tanh(x[:, 2 * UNITS :] + tf.matmul(r * h, wc))
            h = z * h + (1.0 - z) * c
            h.set_shape([BATCH, UNITS])
            return t + 1, h, out.write(t, h)

        _, _, states = tf.while_loop(
            lambda t, h, out: t < steps, body, [0, tf.zeros([BATCH, UNITS]), states]
        )
        recall = states.stack()[steps // 2 :]
        logits = tf.reshape(tf.matmul(tf.reshape(recall, [-1, UNITS]), wo), [-1, BATCH, SYMBOLS])
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=self.targets, logits=logits)
        self.loss = tf.reduce_mean(loss)
        hit = tf.equal(tf.argmax(logits, -1, output_type=tf.int32), self.targets)
        self.accuracy = tf.reduce_mean(tf.cast(hit, tf.float32))
        opt = tf.train.AdamOptimizer(self.lr)
        grads, variables = zip(*opt.compute_gradients(self.loss))
        grads, self.norm = tf.clip_by_global_norm(grads, 1.0)
        self.step = tf.train.get_or_create_global_step()
        self.train = opt.apply_gradients(zip(grads, variables), global_step=self.step)
        tf.summary.scalar("loss", self.loss)
        tf.summary.scalar("grad_norm", self.norm)
        self.summary = tf.summary.merge_all()
        self.init = tf.global_variables_initializer()
        self.saver = tf.train.Saver(max_to_keep=2)


def strings(rng, length):
    s = rng.integers(0, SYMBOLS, (length, BATCH))
    tokens = np.full((2 * length, BATCH), SYMBOLS, "int32")
    tokens[:length] = s
    tokens[length] = SYMBOLS + 1
    return tokens, s.astype("int32")


def main(lengths=(2, 3, 4, 6, 8, 10, 12), per_stage=200, log_every=100, save_every=350):
    rng = np.random.default_rng(13)
    tf.set_random_seed(13)
    g = Graph()
    with tempfile.TemporaryDirectory() as folder, tf.Session() as sess:
        writer = tf.summary.FileWriter(folder, sess.graph)
        sess.run(g.init)
        step = 0
        for stage, length in enumerate(lengths):
            lr = 3e-3 * 0.85**stage
            began, losses = time.time(), []
            for _ in range(per_stage):
                tokens, targets = strings(rng, length)
                feed = {g.tokens: tokens, g.targets: targets, g.lr: lr}
                step += 1
                if step % log_every == 0:
                    loss, acc, note, _ = sess.run([g.loss, g.accuracy, g.summary, g.train], feed)
                    writer.add_summary(note, step)
                    print(
                        f"step {step:5d} length {length:2d} loss {np.mean(losses):.4f} acc {acc:.3f} "
                        f"{(time.time() - began) / (len(losses) + 1) * 1e3:.1f} ms/step",
                        flush=True,
                    )
                else:
                    loss, _ = sess.run([g.loss, g.train], feed)
                losses.append(loss)
                if step % save_every == 0:
                    g.saver.save(
                        sess,
                        os.path.join(folder, "recall"),
                        global_step=step,
                        write_meta_graph=False,
                    )
            print(
                f"== length {length}: first {np.mean(losses[:20]):.3f} last {np.mean(losses[-20:]):.3f}"
            )
        writer.close()


if __name__ == "__main__":
    main()
