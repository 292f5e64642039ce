"""Human-written dates to ISO dates: GRU encoder, attentive GRU decoder, teacher forcing."""

import os
import time

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import tensorflow as tf
from tensorflow import keras

SEED = 8
N_PAIRS = 12000
BATCH = 64
STEPS = 350
UNITS = 112
CHARS = "^$ abcdefghijklmnopqrstuvwxyz0123456789,-./"
C2I = {c: i + 1 for i, c in enumerate(CHARS)}
VOCAB = len(CHARS) + 1
SRC_LEN, TGT_LEN = 20, 32
MONTHS = "january february march april may june july august september october november december"
DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()


def encode(text, width):
    ids = [C2I[c] for c in text][:width]
    return ids + [0] * (width - len(ids))


def make_pairs(n, rng):
    months = MONTHS.split()
    src, tgt = [], []
    for _ in range(n):
        y, m, d = rng.integers(1900, 2100), rng.integers(0, 12), rng.integers(1, 29)
        style = rng.integers(0, 4)
        if style == 0:
            s = f"{d}.{m + 1}.{y}"
        elif style == 1:
            s = f"{months[m][:3]} {d}, {y}"
        elif style == 2:
            s = f"{d} {months[m]} {y}"
        else:
            s = f"{y}/{m + 1:02d}/{d:02d}"
        day = DAYS[(d + 2 * m + y) % 7]
        src.append(encode(s, SRC_LEN))
        tgt.append(encode(f"^{y}-{m + 1:02d}-{d:02d} {day}$", TGT_LEN + 1))
    return np.array(src, np.int32), np.array(tgt, np.int32)


class Encoder(keras.Model):
    def __init__(self):
        super().__init__()
        self.emb = keras.layers.Embedding(VOCAB, 48)
        self.rnn = keras.layers.Bidirectional(keras.layers.GRU(UNITS // 2, return_sequences=True))

    def call(self, x):
        return self.rnn(self.emb(x))


class Decoder(keras.Model):
    def __init__(self):
        super().__init__()
        self.emb = keras.layers.Embedding(VOCAB, 48)
        self.init = keras.layers.Dense(UNITS, activation="tanh")
        self.rnn1 = keras.layers.GRU(UNITS, return_sequences=True)
        self.rnn2 = keras.layers.GRU(UNITS, return_sequences=True)
        self.att = keras.layers.Attention()
        self.mix = keras.layers.Dense(UNITS, activation="tanh")
        self.out = keras.layers.Dense(VOCAB)

    def call(self, tokens, memory):
        h0 = self.init(tf.reduce_mean(memory, axis=1))
        h = self.rnn1(self.emb(tokens), initial_state=h0)
        h = self.rnn2(h, initial_state=h0)
        ctx = self.att([h, memory])
        return self.out(self.mix(tf.concat([h, ctx], -1)))


def masked_loss(y, logits):
    ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
    w = tf.cast(y > 0, tf.float32)
    return tf.reduce_sum(ce * w) / tf.reduce_sum(w)


def main():
    keras.utils.set_random_seed(SEED)
    rng = np.random.default_rng(SEED)
    src, tgt = make_pairs(N_PAIRS, rng)
    n_tr = N_PAIRS - 1000
    ds = (
        tf.data.Dataset.from_tensor_slices((src[:n_tr], tgt[:n_tr]))
        .shuffle(n_tr, seed=SEED)
        .repeat()
        .batch(BATCH)
        .prefetch(2)
    )
    encoder, decoder = Encoder(), Decoder()
    decoder(tgt[:2, :-1], encoder(src[:2]))
    enc_vars, dec_vars = encoder.trainable_variables, decoder.trainable_variables
    enc_opt = keras.optimizers.Adam(1e-3, clipnorm=1.0)
    dec_opt = keras.optimizers.Adam(3e-3, clipnorm=1.0)
    enc_opt.build(enc_vars)
    dec_opt.build(dec_vars)

    @tf.function
    def train_step(x, y):
        with tf.GradientTape(persistent=True) as tape:
            logits = decoder(y[:, :-1], encoder(x))
            loss = masked_loss(y[:, 1:], logits)
        enc_grads = tape.gradient(loss, enc_vars)
        dec_grads = tape.gradient(loss, dec_vars)
        enc_opt.apply_gradients(zip(enc_grads, enc_vars))
        dec_opt.apply_gradients(zip(dec_grads, dec_vars))
        return loss

    @tf.function
    def evaluate(x, y):
        logits = decoder(y[:, :-1], encoder(x))
        hit = tf.cast(tf.argmax(logits, -1, tf.int32) == y[:, 1:], tf.float32)
        w = tf.cast(y[:, 1:] > 0, tf.float32)
        return masked_loss(y[:, 1:], logits), tf.reduce_sum(hit * w) / tf.reduce_sum(w)

    x_va, y_va = tf.constant(src[n_tr:][:512]), tf.constant(tgt[n_tr:][:512])
    t0 = time.time()
    for step, (x, y) in enumerate(ds.take(STEPS), 1):
        loss = train_step(x, y)
        if step % 50 == 0:
            print(f"step {step} loss {float(loss):.4f} {time.time() - t0:.1f}s", flush=True)
        if step % 175 == 0:
            vl, acc = evaluate(x_va, y_va)
            print(f"  val loss {float(vl):.4f} char acc {float(acc):.3f}")


if __name__ == "__main__":
    main()
