# seq2seq: normalise OCR'd dictionary lines into inflected verb forms
import time
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

VOC_IN, VOC_OUT = 90, 60
S_LEN, T_LEN = 90, 30
EMB, ENC, DEC, ATT = 48, 160, 192, 256
BATCH = 48
PAD, BOS = 0, 1

rng = np.random.default_rng(8)


def corpus(n):
    src = rng.integers(3, VOC_IN, (n, S_LEN))
    tgt = np.zeros((n, T_LEN), np.int64)
    pick = np.sort(rng.choice(S_LEN, T_LEN, replace=False))
    tgt[:] = 3 + src[:, pick] % (VOC_OUT - 3)
    return src.astype(np.int32), tgt.astype(np.int32)


class Encoder(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.emb = layers.Embedding(VOC_IN, EMB)
        self.rnn = layers.Bidirectional(layers.GRU(ENC, return_sequences=True))

    def call(self, x):
        return self.rnn(self.emb(x))


class AdditiveAttention(layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.W1 = layers.Dense(units, use_bias=False)
        self.W2 = layers.Dense(units)
        self.V = layers.Dense(1)

    def call(self, query, values):
        q = self.W1(query)[:, None, :]
        score = self.V(tf.nn.tanh(q + self.W2(values)))
        a = tf.nn.softmax(score, axis=1)
        return tf.reduce_sum(a * values, axis=1)


class Decoder(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.emb = layers.Embedding(VOC_OUT, EMB)
        self.cell = layers.GRUCell(DEC)
        self.att = AdditiveAttention(ATT)
        self.init_h = layers.Dense(DEC, activation="tanh")
        self.proj = layers.Dense(VOC_OUT)

    def call(self, tokens, values):
        e = self.emb(tokens)
        h = self.init_h(values[:, -1])
        outs = tf.TensorArray(tf.float32, size=T_LEN, element_shape=[None, DEC])
        for t in tf.range(T_LEN):
            ctx = self.att(h, values)
            x = tf.concat([e[:, t], ctx], axis=-1)
            h, _ = self.cell(x, [h])
            outs = outs.write(t, h)
        hs = tf.transpose(outs.stack(), [1, 0, 2])
        return self.proj(hs)


enc, dec = Encoder(), Decoder()
opt = tf.keras.optimizers.Adam(2e-3, clipnorm=1.0)

src, tgt = corpus(3000)
# create variables once
_v = enc(src[:2])
dec.att(tf.zeros([2, DEC]), _v)
dec.cell(tf.zeros([2, EMB + 2 * ENC]), [tf.zeros([2, DEC])])
dec.init_h(_v[:, -1])
dec.proj(tf.zeros([2, 1, DEC]))
dec.emb(tgt[:2])
params = enc.trainable_variables + dec.trainable_variables
print("weights:", sum(int(np.prod(v.shape)) for v in params))


@tf.function(
    input_signature=[tf.TensorSpec([None, S_LEN], tf.int32), tf.TensorSpec([None, T_LEN], tf.int32)]
)
def train(s, y):
    inp = tf.concat([tf.fill([tf.shape(y)[0], 1], BOS), y[:, :-1]], axis=1)
    with tf.GradientTape() as tape:
        logits = dec.call(inp, enc(s))
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
    opt.apply_gradients(zip(tape.gradient(loss, params), params))
    acc = tf.reduce_mean(
        tf.cast(tf.equal(tf.argmax(logits, -1, output_type=tf.int32), y), tf.float32)
    )
    return loss, acc


ds = (
    tf.data.Dataset.from_tensor_slices((src, tgt))
    .shuffle(3000, seed=1)
    .repeat()
    .batch(BATCH)
    .prefetch(2)
)
t0 = time.time()
hist = []
for i, (s, y) in enumerate(ds.take(50)):
    hist.append([v.numpy() for v in train(s, y)])
    if (i + 1) % 10 == 0:
        m = np.mean(hist[-10:], axis=0)
        print(
            f"batch {i + 1}: loss {m[0]:.3f} acc {m[1]:.3f} | {(time.time() - t0) / (i + 1):.3f} s/batch",
            flush=True,
        )
