"""Tag each frame of a tram-bell recording (idle / ring / brake squeal), recordings of any length."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

FEATS, TAGS = 24, 3


def simulate(n, rng):
    clips = []
    basis = rng.normal(size=(TAGS, FEATS))
    for _ in range(n):
        length = int(rng.integers(60, 150))
        tags = np.zeros(length, np.int32)
        pos = 0
        while pos < length:
            span = int(rng.integers(4, 20))
            tags[pos : pos + span] = rng.integers(TAGS)
            pos += span
        x = basis[tags] + rng.normal(scale=1.6, size=(length, FEATS))
        clips.append((x.astype(np.float32), tags))
    return clips


def collate(clips):
    width = max(len(t) for _, t in clips)
    x = np.zeros((len(clips), width, FEATS), np.float32)
    y = np.zeros((len(clips), width), np.int32)
    w = np.zeros((len(clips), width), np.float32)
    for i, (feat, tags) in enumerate(clips):
        x[i, : len(tags)] = feat
        y[i, : len(tags)] = tags
        w[i, : len(tags)] = 1.0
    return x, y, w


def build():
    inp = keras.Input((None, FEATS))
    h = layers.Conv1D(64, 1)(inp)
    for rate in (1, 2, 4):
        r = layers.LayerNormalization()(h)
        r = layers.Conv1D(64, 3, padding="same", dilation_rate=rate, activation="relu")(r)
        r = layers.Conv1D(64, 1)(r)
        h = layers.Add()([h, r])
    return keras.Model(inp, layers.Dense(TAGS)(h))


class Tagger:
    def __init__(self):
        self.net = build()
        self.opt = keras.optimizers.Adam(1e-3)
        self.opt.build(self.net.trainable_variables)

    @tf.function(
        jit_compile=True,
        input_signature=[
            tf.TensorSpec([None, None, FEATS], tf.float32),
            tf.TensorSpec([None, None], tf.int32),
            tf.TensorSpec([None, None], tf.float32),
        ],
    )
    def step(self, x, y, w):
        with tf.GradientTape() as tape:
            logits = self.net(x, training=True)
            ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
            loss = tf.reduce_sum(ce * w) / tf.reduce_sum(w)
        grads = tape.gradient(loss, self.net.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.net.trainable_variables))
        hit = tf.cast(tf.equal(tf.argmax(logits, -1, output_type=tf.int32), y), tf.float32)
        return loss, tf.reduce_sum(hit * w) / tf.reduce_sum(w)


def main(epochs=6, batch=24):
    keras.utils.set_random_seed(21)
    rng = np.random.default_rng(21)
    clips = simulate(600, rng)
    tagger = Tagger()
    for epoch in range(epochs):
        order = rng.permutation(len(clips))
        losses, accs = [], []
        for i in range(0, len(order), batch):
            x, y, w = collate([clips[j] for j in order[i : i + batch]])
            loss, acc = tagger.step(x, y, w)
            losses.append(float(loss))
            accs.append(float(acc))
        print(f"epoch {epoch} loss {np.mean(losses):.4f} frame acc {np.mean(accs):.3f}")


if __name__ == "__main__":
    main()
