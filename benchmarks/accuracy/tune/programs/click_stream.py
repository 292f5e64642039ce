"""Click prediction on a stream: predict first, then learn, and keep an eye on the AUC so far."""

import numpy as np
import tensorflow as tf

DIM = 2**12
rng = np.random.RandomState(9)
secret = rng.randn(DIM) * (rng.rand(DIM) < 0.1)


def stream(n):
    for _ in range(n):
        ids = rng.randint(0, DIM, size=(48, 20))
        p = 1 / (1 + np.exp(-secret[ids].sum(1)))
        yield ids, (rng.rand(48) < p).astype("float32")


class OnlineFTRL:
    def __init__(self):
        self.table = tf.Variable(tf.zeros([DIM, 1]))
        self.factors = tf.Variable(tf.random.normal([DIM, 8], stddev=0.05))
        self.opt = tf.keras.optimizers.Adagrad(0.1)
        self.opt.build([self.table, self.factors])

    @tf.function(
        input_signature=[tf.TensorSpec([None, 20], tf.int32), tf.TensorSpec([None], tf.float32)]
    )
    def learn(self, ids, clicks):
        with tf.GradientTape() as tape:
            linear = tf.reduce_sum(tf.gather(self.table, ids), axis=[1, 2])
            v = tf.gather(self.factors, ids)
            pair = tf.reduce_sum(v, 1) ** 2 - tf.reduce_sum(v**2, 1)
            score = linear + 0.5 * tf.reduce_sum(pair, 1)
            loss = tf.reduce_mean(
                tf.nn.sigmoid_cross_entropy_with_logits(labels=clicks, logits=score)
            )
        grads = tape.gradient(loss, [self.table, self.factors])
        self.opt.apply_gradients(zip(grads, [self.table, self.factors]))
        return score


def auc(labels, scores):
    order = sorted(range(len(scores)), key=lambda k: scores[k])
    positives = sum(labels)
    negatives = len(labels) - positives
    rank_sum = sum(rank for rank, k in enumerate(order, 1) if labels[k])
    return (rank_sum - positives * (positives + 1) / 2) / max(1, positives * negatives)


model = OnlineFTRL()
seen_labels, seen_scores = [], []
for t, (ids, clicks) in enumerate(stream(700)):
    score = model.learn(tf.constant(ids, tf.int32), tf.constant(clicks))
    seen_labels += clicks.tolist()
    seen_scores += score.numpy().tolist()
    quality = auc(seen_labels, seen_scores)
    if t % 100 == 0:
        print(f"{len(seen_labels):7d} impressions, AUC so far {quality:.4f}")
