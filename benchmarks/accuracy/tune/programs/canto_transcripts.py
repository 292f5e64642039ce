"""Part labels for choir transcripts (one label per note), taught with short
phrases first and whole cantos later. Three phases of 48, 96 and 192 notes."""

import time

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

PITCHES = 64
PARTS = 6
PHASES = [(48, 220), (96, 220), (192, 180)]
BATCH = 32


class Cantos:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.flow = self.rng.dirichlet(np.full(PARTS, 0.4), PARTS) * 0.3 + np.eye(PARTS) * 0.7
        self.flow = np.cumsum(self.flow / self.flow.sum(1, keepdims=True), 1)
        self.centre = np.linspace(10, 54, PARTS)

    def draw(self, n, length):
        r = self.rng.random((length, n, 1))
        part = self.rng.integers(0, PARTS, n)
        parts = np.empty((n, length), "int32")
        for t in range(length):
            part = (r[t] > self.flow[part]).sum(1).clip(0, PARTS - 1)
            parts[:, t] = part
        pitch = self.centre[parts] + self.rng.normal(0, 6, parts.shape)
        return np.clip(pitch, 0, PITCHES - 1).astype("int32"), parts


class Block(layers.Layer):
    def __init__(self, width, heads):
        super().__init__()
        self.n1, self.n2 = layers.LayerNormalization(), layers.LayerNormalization()
        self.att = layers.MultiHeadAttention(heads, width // heads)
        self.up, self.down = layers.Dense(width * 3, activation="gelu"), layers.Dense(width)

    def call(self, h):
        n = self.n1(h)
        h = h + self.att(n, n)
        return h + self.down(self.up(self.n2(h)))


class Labeller(tf.keras.Model):
    def __init__(self, width=96, depth=2):
        super().__init__()
        self.pitch = layers.Embedding(PITCHES, width)
        self.place = layers.Embedding(PHASES[-1][0], width)
        self.blocks = [Block(width, 4) for _ in range(depth)]
        self.head = layers.Dense(PARTS)

    def call(self, notes):
        h = self.pitch(notes) + self.place(tf.range(tf.shape(notes)[1]))[None]
        for b in self.blocks:
            h = b(h)
        return self.head(h)


def main():
    tf.keras.utils.set_random_seed(0)
    data = Cantos(1)
    model, opt = Labeller(), tf.keras.optimizers.Adam(1e-3)
    model(np.zeros((1, PHASES[-1][0]), "int32"))
    opt.build(model.trainable_variables)

    @tf.function
    def step(notes, parts):
        with tf.GradientTape() as tape:
            logits = model(notes)
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=parts, logits=logits)
            )
        g = tape.gradient(loss, model.trainable_variables)
        g, _ = tf.clip_by_global_norm(g, 1.0)
        opt.apply_gradients(zip(g, model.trainable_variables))
        hit = tf.reduce_mean(tf.cast(tf.argmax(logits, -1, tf.int32) == parts, tf.float32))
        return loss, hit

    for length, steps in PHASES:
        t0 = time.perf_counter()
        stock = [data.draw(BATCH, length) for _ in range(60)]
        scores = []
        for i in range(steps):
            notes, parts = stock[i % len(stock)]
            loss, hit = step(tf.constant(notes), tf.constant(parts))
            if i % 50 == 49:
                scores.append(round(float(hit), 3))
        print(f"{length} notes: accuracy {scores} {time.perf_counter() - t0:.1f} s", flush=True)


if __name__ == "__main__":
    main()
