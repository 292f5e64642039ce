"""Encoder-decoder that adds numbers written as digits; the numbers get longer every 160 steps."""

import numpy as np
import tensorflow as tf

VOCAB, UNITS, BATCH = 13, 96, 32
PAD, PLUS, START = 10, 11, 12
rng = np.random.default_rng(60)


def digits(values, width):
    return np.stack([(values // 10**k) % 10 for k in reversed(range(width))], axis=1)


def sums(width):
    a, b = rng.integers(0, 10**width, (2, BATCH))
    plus = np.full((BATCH, 1), PLUS)
    source = np.concatenate([digits(a, width), plus, digits(b, width)], axis=1)
    target = digits(a + b, width + 1)
    start = np.full((BATCH, 1), START)
    return tf.constant(source, tf.int32), tf.constant(np.append(start, target, 1), tf.int32)


class Adder(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = tf.keras.layers.Embedding(VOCAB, 32)
        self.encoder = tf.keras.layers.Bidirectional(
            tf.keras.layers.LSTM(UNITS // 2, return_sequences=True, return_state=True)
        )
        self.decoder = tf.keras.layers.LSTM(UNITS, return_sequences=True)
        self.attention = tf.keras.layers.Attention()
        self.out = tf.keras.layers.Dense(VOCAB)

    def call(self, inputs):
        source, target = inputs
        memory, fh, fc, bh, bc = self.encoder(self.embed(source))
        state = [tf.concat([fh, bh], 1), tf.concat([fc, bc], 1)]
        decoded = self.decoder(self.embed(target), initial_state=state)
        context = self.attention([decoded, memory])
        return self.out(tf.concat([decoded, context], -1))


model = Adder()
optimizer = tf.keras.optimizers.Adam(3e-3, clipnorm=1.0)


@tf.function(input_signature=[tf.TensorSpec([BATCH, None], tf.int32)] * 2)
def train_step(source, target):
    with tf.GradientTape() as tape:
        logits = model((source, target[:, :-1]), training=True)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(target[:, 1:], logits))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    guess = tf.argmax(logits, -1, output_type=tf.int32)
    return loss, tf.reduce_mean(tf.cast(guess == target[:, 1:], tf.float32))


step = 0
for width in range(2, 16, 2):
    for _ in range(160):
        loss, accuracy = train_step(*sums(width))
        step += 1
    print(f"step {step} width {width:2d} loss {loss:.3f} digits right {accuracy:.3f}")
