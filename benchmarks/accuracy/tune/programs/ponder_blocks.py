"""Stochastic depth, and a last block that is applied as often as a throw of dice says."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(90)
WIDTH, TOKENS, BATCH = 96, 40, 24


def parity(n):
    bits = rng.integers(0, 2, (n, TOKENS))
    return bits.astype("float32")[..., None], (bits.cumsum(1) % 2).astype("int32")


class Mixer(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.tokens = tf.keras.layers.Dense(TOKENS, activation="gelu")
        self.channels = tf.keras.Sequential(
            [tf.keras.layers.Dense(2 * WIDTH, activation="gelu"), tf.keras.layers.Dense(WIDTH)]
        )
        self.norm = tf.keras.layers.LayerNormalization()

    def call(self, x):
        y = tf.transpose(self.tokens(tf.transpose(x, [0, 2, 1])), [0, 2, 1])
        return x + self.channels(self.norm(x + y))


class Ponder(tf.keras.Model):
    def __init__(self, depth=4, survive=0.7):
        super().__init__()
        self.enter = tf.keras.layers.Dense(WIDTH)
        self.blocks = [Mixer() for _ in range(depth)]
        self.again = Mixer()
        self.leave = tf.keras.layers.Dense(2)
        self.survive = survive

    def call(self, x, times):
        x = self.enter(x)
        for block in self.blocks:
            x = tf.cond(
                tf.random.uniform(()) < self.survive, lambda x=x, b=block: b(x), lambda x=x: x
            )
        _, x = tf.while_loop(
            lambda k, _: k < times, lambda k, x: (k + 1, self.again(x)), (tf.constant(0), x)
        )
        return self.leave(x)


model = Ponder()
sample = tf.zeros((BATCH, TOKENS, 1))
x0 = model.enter(sample)
for block in [*model.blocks, model.again]:
    block(x0)
model.leave(x0)
optimizer = tf.keras.optimizers.Adam(1e-3)
optimizer.build(model.trainable_variables)


@tf.function
def step(x, y, times):
    with tf.GradientTape() as tape:
        logits = model(x, times)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
    grads = tape.gradient(loss, model.trainable_variables)
    grads = [tf.zeros_like(v) if g is None else g for g, v in zip(grads, model.trainable_variables)]
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for k in range(800):
    x, y = parity(BATCH)
    times = tf.constant(1 + min(9, int(rng.geometric(0.35))))
    loss = step(tf.constant(x), tf.constant(y), times)
    if k % 100 == 0:
        print(f"{k:5d} {float(loss):.4f}")
