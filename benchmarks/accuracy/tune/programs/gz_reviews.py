"""Sentiment of reviews, read from a gzip file and tokenized on the way."""

import gzip
import re

import numpy as np
import tensorflow as tf

WORDS = ["good", "bad", "film", "plot", "actor", "boring", "great", "scene", "the", "and"]
rng = np.random.default_rng(0)
with gzip.open("reviews.txt.gz", "wt") as out:
    for _ in range(3000):
        text = " ".join(rng.choice(WORDS, 150)) + "!?"
        out.write(f"{rng.integers(0, 2)}\t{text}\n")

SIZE = 4000


def tokenize(text):
    text = re.sub(r"[^a-z ]", " ", text.lower())
    counts = np.zeros(SIZE, "float32")
    words = text.split()
    for first, second in zip(words, words[1:]):
        counts[sum(ord(c) * 31**k for k, c in enumerate(first + second)) % SIZE] += 1
    return counts


def reviews():
    with gzip.open("reviews.txt.gz", "rt") as lines:
        for line in lines:
            label, text = line.rstrip("\n").split("\t")
            yield tokenize(text), int(label)


signature = (tf.TensorSpec((SIZE,), tf.float32), tf.TensorSpec((), tf.int32))
dataset = tf.data.Dataset.from_generator(reviews, output_signature=signature)
dataset = dataset.shuffle(200).batch(32)

model = tf.keras.Sequential(
    [tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(1, activation="sigmoid")]
)
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(dataset, epochs=8, verbose=2)
