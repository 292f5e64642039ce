"""Classify tower captains' remarks on bell-ringing touches; frozen encoder, new head."""

import os
import time
from dataclasses import dataclass

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf
from keras import layers


@dataclass(frozen=True)
class Cfg:
    vocab: int = 600
    length: int = 48
    dim: int = 96
    n_train: int = 512
    batch: int = 32
    epochs: int = 18
    seed: int = 808
    smooth: float = 0.05


CFG = Cfg()
WORDS = [
    "clip",
    "gap",
    "striking",
    "handstroke",
    "backstroke",
    "treble",
    "tenor",
    "dodge",
    "lead",
    "cover",
]


def remarks(n, seed):
    rng = np.random.default_rng(seed)
    texts, marks = [], []
    for _ in range(n):
        mark = int(rng.integers(0, 3))
        bias = (
            rng.integers(0, 10, size=40)
            if rng.random() < 0.2
            else rng.integers(mark * 3, mark * 3 + 4, size=40)
        )
        texts.append(" ".join(f"{WORDS[b]}{rng.integers(0, 50)}" for b in bias))
        marks.append(mark)
    return np.array(texts), np.array(marks, "int32")


def encode(text):
    """Hash words and their character n-grams into ids."""
    ids = []
    for word in text.numpy().decode().split():
        h = 5381
        for n in range(3, 5):
            for i in range(len(word) - n + 1):
                for ch in word[i : i + n]:
                    h = (h * 33 + ord(ch)) % 2147483647
        ids.append(1 + h % (CFG.vocab - 1))
    ids = ids[: CFG.length] + [0] * (CFG.length - len(ids))
    return np.array(ids, "int32")


def to_ids(text, mark):
    ids = tf.py_function(encode, [text], tf.int32)
    ids.set_shape((CFG.length,))
    return ids, mark


class Block(layers.Layer):
    def __init__(self, dim, **kw):
        super().__init__(**kw)
        self.att = layers.MultiHeadAttention(4, dim // 4)
        self.ff = keras.Sequential([layers.Dense(3 * dim, activation="gelu"), layers.Dense(dim)])
        self.n1, self.n2 = layers.LayerNormalization(), layers.LayerNormalization()

    def call(self, x):
        x = self.n1(x + self.att(x, x))
        return self.n2(x + self.ff(x))


def encoder():
    inp = keras.Input((CFG.length,), dtype="int32")
    h = layers.Embedding(CFG.vocab, CFG.dim)(inp)
    for i in range(2):
        h = Block(CFG.dim, name=f"block{i}")(h)
    return keras.Model(inp, layers.GlobalAveragePooling1D()(h), name="encoder")


def main():
    keras.utils.set_random_seed(CFG.seed)
    texts, marks = remarks(CFG.n_train, 1)
    data = tf.data.Dataset.from_tensor_slices((texts, marks))
    data = data.map(to_ids, num_parallel_calls=2).shuffle(CFG.n_train, seed=2)
    data = data.batch(CFG.batch, drop_remainder=True).prefetch(2)

    body = encoder()
    head = keras.Sequential(
        [keras.Input((CFG.dim,)), layers.Dense(64, activation="relu"), layers.Dense(3)]
    )
    optimizer = keras.optimizers.Adam(4e-3)
    optimizer.build(head.trainable_variables)
    loss_fn = keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=CFG.smooth)
    norms = keras.metrics.Mean()

    @tf.function
    def train_step(ids, mark):
        variables = body.trainable_variables + head.trainable_variables
        with tf.GradientTape() as tape:
            logits = head(body(ids, training=False), training=True)
            loss = loss_fn(tf.one_hot(mark, 3), logits)
        grads = tape.gradient(loss, variables)
        norms.update_state(tf.linalg.global_norm(grads))
        mine = grads[-len(head.trainable_variables) :]
        optimizer.apply_gradients(zip(mine, head.trainable_variables))
        return loss, tf.reduce_mean(tf.cast(tf.argmax(logits, 1, tf.int32) == mark, tf.float32))

    t0 = time.time()
    for epoch in range(CFG.epochs):
        stats = [train_step(ids, mark) for ids, mark in data]
        loss, acc = np.mean([[float(v) for v in s] for s in stats], axis=0)
        print(f"epoch {epoch}  loss {loss:.4f}  acc {acc:.3f}  |g| {float(norms.result()):.3f}")
        norms.reset_state()
    print(f"training took {time.time() - t0:.2f} s")


if __name__ == "__main__":
    main()
