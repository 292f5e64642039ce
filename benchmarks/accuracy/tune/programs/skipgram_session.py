# Word vectors, skip-gram with negative sampling, in the session style of the old tutorials.
import math
import os
import tempfile

import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
tf1.disable_eager_execution()

VOCAB = 6000
DIM = 128
WINDOW = 3
BATCH = 2048
NEGATIVE = 48
STEPS = 4000


def synth_corpus(n_tokens, n_topics=30, seed=0):
    """Documents switch topics; each topic prefers a slice of the vocabulary."""
    rng = np.random.default_rng(seed)
    tokens = np.empty(n_tokens, np.int32)
    pos = 0
    while pos < n_tokens:
        length = min(int(rng.integers(80, 300)), n_tokens - pos)
        topic = rng.integers(n_topics)
        local = topic * (VOCAB // n_topics) + rng.zipf(1.6, length) % (VOCAB // n_topics)
        common = rng.zipf(1.2, length) % VOCAB
        tokens[pos : pos + length] = np.where(rng.uniform(size=length) < 0.7, local, common)
        pos += length
    return tokens


class PairSampler:
    def __init__(self, tokens, seed=0):
        self.tokens = tokens
        self.rng = np.random.default_rng(seed)

    def next_batch(self):
        center = self.rng.integers(WINDOW, len(self.tokens) - WINDOW, BATCH)
        offset = self.rng.integers(1, WINDOW + 1, BATCH) * self.rng.choice([-1, 1], BATCH)
        return self.tokens[center], self.tokens[center + offset][:, None]


def build_graph():
    g = {}
    g["center"] = tf1.placeholder(tf.int32, [BATCH], name="center")
    g["context"] = tf1.placeholder(tf.int32, [BATCH, 1], name="context")
    g["probe"] = tf1.placeholder(tf.int32, [None], name="probe")
    emb = tf1.get_variable("emb", [VOCAB, DIM], initializer=tf1.random_uniform_initializer(-1, 1))
    w = tf1.get_variable(
        "nce_w",
        [VOCAB, DIM],
        initializer=tf1.truncated_normal_initializer(stddev=1 / math.sqrt(DIM)),
    )
    b = tf1.get_variable("nce_b", [VOCAB], initializer=tf1.zeros_initializer())
    h = tf.nn.embedding_lookup(emb, g["center"])
    g["loss"] = tf.reduce_mean(
        tf1.nn.nce_loss(
            weights=w,
            biases=b,
            labels=tf.cast(g["context"], tf.int64),
            inputs=h,
            num_sampled=NEGATIVE,
            num_classes=VOCAB,
        )
    )
    g["step"] = tf1.train.get_or_create_global_step()
    lr = tf1.train.exponential_decay(0.3, g["step"], 500, 0.8)
    g["train"] = tf1.train.AdagradOptimizer(lr).minimize(g["loss"], global_step=g["step"])
    unit = tf.math.l2_normalize(emb, axis=1)
    sims = tf.matmul(tf.gather(unit, g["probe"]), unit, transpose_b=True)
    g["nearest"] = tf.math.top_k(sims, k=6).indices
    tf1.summary.scalar("nce_loss", g["loss"])
    tf1.summary.scalar("lr", lr)
    g["summaries"] = tf1.summary.merge_all()
    g["init"] = tf1.global_variables_initializer()
    return g


def main():
    tf1.set_random_seed(0)
    out = tempfile.mkdtemp(prefix="w2v_")
    sampler = PairSampler(synth_corpus(400_000))
    g = build_graph()
    saver = tf1.train.Saver(max_to_keep=3)
    probe = np.array([30, 430, 1230, 3030], np.int32)
    with tf1.Session() as sess:
        writer = tf1.summary.FileWriter(out, sess.graph)
        sess.run(g["init"])
        avg = 0.0
        for it in range(1, STEPS + 1):
            center, context = sampler.next_batch()
            feed = {g["center"]: center, g["context"]: context}
            if it % 20 == 0:
                _, loss, summ = sess.run([g["train"], g["loss"], g["summaries"]], feed)
                writer.add_summary(summ, it)
            else:
                _, loss = sess.run([g["train"], g["loss"]], feed)
            avg += loss
            if it % 1000 == 0:
                print(f"step {it} mean loss {avg / 1000:.3f}")
                avg = 0.0
                near = sess.run(g["nearest"], {g["probe"]: probe})
                for word, row in zip(probe, near):
                    print(f"   {word}: {row[1:].tolist()}")
                saver.save(sess, os.path.join(out, "vectors"), global_step=it)
        writer.close()


if __name__ == "__main__":
    main()
