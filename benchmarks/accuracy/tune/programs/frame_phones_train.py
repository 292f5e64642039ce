"""Frame-level phone classifier for the forced aligner (log-mel in, phone ids out).

Utterances differ in length; the batcher sorts within a pool, pads to a multiple
of 8 frames and masks the tail, so little is wasted on padding.
"""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import time

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(9)
MELS, PHONES, BATCH = 40, 42, 16
STEPS, POOL, ROUND_TO = 800, 128, 8


class Corpus:
    """Synthetic utterances: each phone has a mean spectrum and a duration law."""

    def __init__(self, n, seed=0):
        self.rng = np.random.default_rng(seed)
        self.means = self.rng.normal(0, 1, (PHONES, MELS)).astype(np.float32)
        self.utts = [self._utt() for _ in range(n)]

    def _utt(self):
        target = int(np.clip(self.rng.gamma(9.0, 15.0), 56, 200))
        ids = []
        while len(ids) < target:
            ids += [self.rng.integers(PHONES)] * int(self.rng.integers(4, 14))
        ids = np.array(ids[:target], np.int32)
        feat = self.means[ids] + self.rng.normal(0, 1.3, (target, MELS)).astype(np.float32)
        return feat, ids

    def batches(self):
        while True:
            pool = [self.utts[i] for i in self.rng.integers(0, len(self.utts), POOL)]
            pool.sort(key=lambda u: len(u[1]))
            groups = [pool[i : i + BATCH] for i in range(0, POOL, BATCH)]
            self.rng.shuffle(groups)
            for g in groups:
                longest = max(len(u[1]) for u in g)
                T = -(-longest // ROUND_TO) * ROUND_TO
                x = np.zeros((BATCH, T, MELS), np.float32)
                y = np.zeros((BATCH, T), np.int32)
                m = np.zeros((BATCH, T), np.float32)
                for k, (f, i) in enumerate(g):
                    x[k, : len(i)], y[k, : len(i)], m[k, : len(i)] = f, i, 1.0
                yield x, y, m


def build():
    L = tf.keras.layers
    inp = L.Input((None, MELS))
    x = L.Dense(128)(inp)
    for d in (1, 2, 4, 8):
        h = L.LayerNormalization()(x)
        h = L.Conv1D(128, 3, dilation_rate=d, padding="same", activation="relu")(h)
        h = L.Dense(128)(h)
        x = L.Add()([x, h])
    return tf.keras.Model(inp, L.Dense(PHONES)(L.LayerNormalization()(x)))


model = build()
opt = tf.keras.optimizers.Adam(1e-3)
opt.build(model.trainable_variables)

SIG = [
    tf.TensorSpec([BATCH, None, MELS], tf.float32),
    tf.TensorSpec([BATCH, None], tf.int32),
    tf.TensorSpec([BATCH, None], tf.float32),
]


@tf.function(input_signature=SIG, jit_compile=True)
def train_step(x, y, mask):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        xe = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
        loss = tf.reduce_sum(xe * mask) / tf.reduce_sum(mask)
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    hit = tf.cast(tf.equal(tf.argmax(logits, -1, output_type=tf.int32), y), tf.float32)
    return loss, tf.reduce_sum(hit * mask) / tf.reduce_sum(mask)


def main():
    corpus = Corpus(600)
    t0, frames = time.time(), 0
    for step, (x, y, m) in enumerate(corpus.batches()):
        if step == STEPS:
            break
        loss, fer = train_step(x, y, m)
        frames += int(m.sum())
        if step % 40 == 0:
            dt = time.time() - t0
            print(
                f"step {step:4d}  loss {float(loss):.3f}  acc {float(fer):.3f}  "
                f"{frames / dt:,.0f} frames/s",
                flush=True,
            )
    print("done, hours of audio:", round(frames / 100 / 3600, 2))


if __name__ == "__main__":
    main()
