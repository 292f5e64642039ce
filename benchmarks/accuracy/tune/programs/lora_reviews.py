"""Low-rank adapters for a small sentence encoder: adapters first, then the norms as well."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

VOCAB, LENGTH, WIDTH, RANK = 800, 40, 96, 4


class LoRADense(layers.Layer):
    """A frozen dense layer with a trainable low-rank correction."""

    def __init__(self, units, activation=None):
        super().__init__()
        self.base = layers.Dense(units, activation=None, trainable=False)
        self.units = units
        self.activation = tf.keras.activations.get(activation)

    def build(self, shape):
        self.base.build(shape)
        self.a = self.add_weight(shape=(shape[-1], RANK), initializer="he_normal", name="a")
        self.b = self.add_weight(shape=(RANK, self.units), initializer="zeros", name="b")

    def call(self, x):
        return self.activation(self.base(x) + tf.matmul(tf.matmul(x, self.a), self.b))


class Block(layers.Layer):
    def __init__(self):
        super().__init__()
        self.attend = layers.MultiHeadAttention(4, WIDTH // 4)
        self.up, self.down = LoRADense(2 * WIDTH, "gelu"), LoRADense(WIDTH)
        self.norms = [layers.LayerNormalization(trainable=False) for _ in range(2)]

    def call(self, x):
        x = self.norms[0](x + self.attend(x, x))
        return self.norms[1](x + self.down(self.up(x)))


def reviews(n, seed):
    rng = np.random.default_rng(seed)
    tokens = rng.integers(0, VOCAB, (n, LENGTH))
    mood = (tokens < 60).sum(1) - (tokens > VOCAB - 60).sum(1)
    return tokens.astype("int32"), (mood > 0).astype("float32")


inputs = tf.keras.Input((LENGTH,), dtype="int32")
x = layers.Embedding(VOCAB, WIDTH, trainable=False)(inputs)
blocks = [Block() for _ in range(2)]
for block in blocks:
    x = block(x)
x = layers.GlobalMaxPooling1D()(x)
model = tf.keras.Model(inputs, layers.Dense(1)(x))
for block in blocks:
    block.attend.trainable = False
train, test = reviews(1920, 1), reviews(320, 2)


def finetune(rate, epochs):
    count = sum(int(np.prod(w.shape)) for w in model.trainable_weights)
    print(f"{count} of {model.count_params()} weights are trained")
    model.compile(
        tf.keras.optimizers.AdamW(rate),
        tf.keras.losses.BinaryCrossentropy(from_logits=True),
        metrics=[tf.keras.metrics.BinaryAccuracy(threshold=0.0)],
    )
    model.fit(*train, batch_size=32, epochs=epochs, validation_data=test, verbose=2)


finetune(2e-3, epochs=7)
for block in blocks:
    for norm in block.norms:
        norm.trainable = True
finetune(5e-4, epochs=6)
