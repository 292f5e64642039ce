"""Sentence classifier, still a TensorFlow 1 program: placeholders, a session, a decaying rate."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

flags = {"vocab": 3000, "dim": 32, "length": 24, "classes": 6, "batch": 64, "steps": 1200}
flags["decay_from"], flags["decay"] = 700, 0.997


class TextModel(object):
    def __init__(self, vocab, dim, length, classes):
        self.tokens = tf.placeholder(tf.int32, [None, length], name="tokens")
        self.labels = tf.placeholder(tf.int32, [None], name="labels")
        with tf.variable_scope("embedding"):
            table = tf.get_variable("table", [vocab, dim])
            words = tf.nn.embedding_lookup(table, self.tokens)
        with tf.variable_scope("conv"):
            kernel = tf.get_variable("kernel", [3, dim, 48])
            hidden = tf.nn.relu(tf.nn.conv1d(words, kernel, 1, "SAME"))
            pooled = tf.reduce_max(hidden, axis=1)
        with tf.variable_scope("out"):
            w = tf.get_variable("w", [48, classes])
            b = tf.get_variable("b", [classes], initializer=tf.zeros_initializer())
            logits = tf.matmul(pooled, w) + b
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=self.labels, logits=logits)
        self.loss = tf.reduce_mean(losses)
        self.rate = tf.Variable(0.5, trainable=False, name="learning_rate")
        self.train_op = tf.train.GradientDescentOptimizer(self.rate).minimize(self.loss)
        hits = tf.equal(tf.argmax(logits, 1, output_type=tf.int32), self.labels)
        self.accuracy = tf.reduce_mean(tf.cast(hits, tf.float32))


def batches(count, vocab, length, classes, batch):
    rng = np.random.RandomState(1)
    for _ in range(count):
        y = rng.randint(0, classes, batch)
        x = rng.randint(0, vocab, (batch, length))
        x[:, ::4] = y[:, None] * 7 + rng.randint(0, 7, (batch, x[:, ::4].shape[1]))
        yield x, y


def main(_):
    model = TextModel(flags["vocab"], flags["dim"], flags["length"], flags["classes"])
    rate = 0.5
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        data = batches(
            flags["steps"], flags["vocab"], flags["length"], flags["classes"], flags["batch"]
        )
        for i, (x, y) in enumerate(data):
            if i >= flags["decay_from"]:
                rate *= flags["decay"]
                sess.run(tf.assign(model.rate, rate))
            feed = {model.tokens: x, model.labels: y}
            _, loss = sess.run([model.train_op, model.loss], feed)
            if i % 250 == 0:
                print("step", i, "loss", loss, "accuracy", sess.run(model.accuracy, feed))


if __name__ == "__main__":
    tf.app.run(main)
