"""Translates numbers into words; sentences of similar length share a batch of one width."""

import numpy as np
import tensorflow as tf

WORDS, WIDTH, HEADS = 400, 64, 4
BOUNDS = [9, 17, 25]


def sentences():
    rng = np.random.default_rng(70)
    for _ in range(14_000):
        length = int(rng.choice([rng.integers(3, 8), rng.integers(8, 16), rng.integers(16, 24)]))
        source = rng.integers(3, WORDS, length)
        yield (
            source.astype("int32"),
            np.append(1, (source[::-1] * 7) % (WORDS - 3) + 3).astype("int32"),
        )


class Attend(tf.keras.layers.Layer):
    def __init__(self, causal):
        super().__init__()
        self.attention = tf.keras.layers.MultiHeadAttention(HEADS, WIDTH // HEADS, dropout=0.1)
        self.norm = tf.keras.layers.LayerNormalization()
        self.causal = causal

    def call(self, x, memory, seen, training=False):
        y = self.attention(
            x, memory, attention_mask=seen, use_causal_mask=self.causal, training=training
        )
        return self.norm(x + y)


class Translator(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.source = tf.keras.layers.Embedding(WORDS, WIDTH)
        self.target = tf.keras.layers.Embedding(WORDS, WIDTH)
        self.places = tf.keras.layers.Embedding(64, WIDTH)
        self.encode = [Attend(False) for _ in range(2)]
        self.decode = [(Attend(True), Attend(False)) for _ in range(2)]
        self.out = tf.keras.layers.Dense(WORDS)

    def call(self, inputs, training=False):
        source, target = inputs
        seen = tf.not_equal(source, 0)[:, None, :]
        x = self.source(source) + self.places(tf.range(tf.shape(source)[1]))
        for layer in self.encode:
            x = layer(x, x, seen, training=training)
        y = self.target(target) + self.places(tf.range(tf.shape(target)[1]))
        for own, other in self.decode:
            y = own(y, y, None, training=training)
            y = other(y, x, seen, training=training)
        return self.out(y)


spec = (tf.TensorSpec([None], tf.int32), tf.TensorSpec([None], tf.int32))
train = tf.data.Dataset.from_generator(sentences, output_signature=spec).cache().shuffle(2000)
train = train.bucket_by_sequence_length(
    lambda source, target: tf.shape(target)[0],
    bucket_boundaries=BOUNDS,
    bucket_batch_sizes=[64, 32, 24, 16],
    pad_to_bucket_boundary=True,
    drop_remainder=True,
    padded_shapes=([None], [None]),
).prefetch(tf.data.AUTOTUNE)
model, optimizer = Translator(), tf.keras.optimizers.Adam(1e-3)
pairs = [tf.TensorSpec([None, None], tf.int32)] * 2


@tf.function(input_signature=pairs)
def train_step(source, target):
    with tf.GradientTape() as tape:
        logits = model((source, target[:, :-1]), training=True)
        ce = tf.nn.sparse_softmax_cross_entropy_with_logits(target[:, 1:], logits)
        known = tf.cast(tf.not_equal(target[:, 1:], 0), tf.float32)
        loss = tf.reduce_sum(ce * known) / tf.reduce_sum(known)
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


for epoch in range(2):
    for batch, (source, target) in enumerate(train):
        loss = train_step(source, target)
        if batch % 60 == 0:
            print(f"epoch {epoch} batch {batch} loss {float(loss):.3f} width {source.shape[1]}")
