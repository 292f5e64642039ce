"""Skip-gram vectors of the notes in folk tunes (the old word2vec example, with my own data)."""

from __future__ import print_function

import math

import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
tf1.disable_eager_execution()

vocabulary_size = 4000
embedding_size = 128
batch_size = 1024
num_sampled = 512
num_steps = 1400


def make_tunes(length=400000):
    rng = np.random.RandomState(1)
    home = np.cumsum(rng.randint(-30, 31, length // 20))
    note = np.repeat(home, 20) + rng.randint(-12, 13, length)
    return (note % vocabulary_size).astype(np.int32)


data = make_tunes()


def generate_batch(window=4):
    centre = np.random.randint(window, len(data) - window, batch_size)
    shift = np.random.randint(1, window + 1, batch_size) * np.random.choice([-1, 1], batch_size)
    return data[centre], data[centre + shift][:, None]


graph = tf.Graph()
with graph.as_default():
    train_inputs = tf1.placeholder(tf.int32, shape=[batch_size])
    train_labels = tf1.placeholder(tf.int32, shape=[batch_size, 1])
    probe = tf.constant(np.arange(100, 116), dtype=tf.int32)

    embeddings = tf1.get_variable(
        "embeddings",
        [vocabulary_size, embedding_size],
        initializer=tf1.random_uniform_initializer(-1, 1),
    )
    nce_weights = tf1.get_variable(
        "nce_weights",
        [vocabulary_size, embedding_size],
        initializer=tf1.truncated_normal_initializer(stddev=1.0 / math.sqrt(embedding_size)),
    )
    nce_biases = tf1.get_variable(
        "nce_biases", [vocabulary_size], initializer=tf1.zeros_initializer()
    )

    embed = tf.nn.embedding_lookup(embeddings, train_inputs)
    loss = tf.reduce_mean(
        tf1.nn.nce_loss(
            weights=nce_weights,
            biases=nce_biases,
            labels=train_labels,
            inputs=embed,
            num_sampled=num_sampled,
            num_classes=vocabulary_size,
        )
    )
    global_step = tf1.train.get_or_create_global_step()
    rate = tf1.train.exponential_decay(1.0, global_step, 500, 0.8)
    train_op = tf1.train.GradientDescentOptimizer(rate).minimize(loss, global_step=global_step)

    unit = embeddings / tf.norm(embeddings, axis=1, keepdims=True)
    similarity = tf.matmul(tf.gather(unit, probe), unit, transpose_b=True)
    saver = tf1.train.Saver()
    init = tf1.global_variables_initializer()

with tf1.Session(graph=graph) as sess:
    sess.run(init)
    average = 0.0
    for step in range(num_steps):
        inputs, labels = generate_batch()
        _, value = sess.run([train_op, loss], {train_inputs: inputs, train_labels: labels})
        average += value / 200
        if (step + 1) % 200 == 0:
            print("step", step + 1, "loss %.2f" % average)
            average = 0.0
    near = (-sess.run(similarity)).argsort(axis=1)[:, 1:6]
    for note, row in zip(range(100, 116, 4), near[::4]):
        print("near", note, ":", *row)
    saver.save(sess, "./tunes.ckpt")
