"""Generates syllables and watches how varied the vocabulary is during training."""

import random

import numpy as np
import tensorflow as tf

random.seed(3)
CONSONANTS, VOWELS = "kstnhmyrw", "aiueo"
SYLLABLES = [c + v for c in CONSONANTS for v in VOWELS] + list(VOWELS)


def poems(n, length=18):
    starts = np.random.default_rng(3).integers(0, len(SYLLABLES), (n, 1))
    drift = np.cumsum(np.random.default_rng(4).integers(0, 4, (n, length)), axis=1)
    tokens = (starts + drift) % len(SYLLABLES)
    return tokens[:, :-1], tokens[:, 1:]


class Journal(tf.keras.callbacks.Callback):
    """Keeps what the net says, and how many different words it has used."""

    def __init__(self):
        super().__init__()
        self.text = ""
        self.variety = []

    def speak(self):
        words = ["".join(random.choices(SYLLABLES, k=3)) for _ in range(130)]
        return " ".join(words)

    def on_train_batch_end(self, batch, logs=None):
        self.text += f"\nbatch {batch} loss {logs['loss']:.4f}: {self.speak()}"
        counts = {}
        for word in self.text.replace("\n", " ").split(" "):
            counts[word] = counts.get(word, 0) + 1
        self.variety.append(len(counts))

    def on_epoch_end(self, epoch, logs=None):
        print(f"epoch {epoch + 1}: {self.variety[-1]} different words, loss {logs['loss']:.3f}")


model = tf.keras.Sequential(
    [
        tf.keras.layers.Embedding(len(SYLLABLES), 32),
        tf.keras.layers.LSTM(96, return_sequences=True),
        tf.keras.layers.LSTM(96, return_sequences=True),
        tf.keras.layers.Dense(len(SYLLABLES)),
    ]
)
model.compile(
    optimizer=tf.keras.optimizers.Adam(2e-3, clipnorm=1.0),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
)
x, y = poems(7680)
model.fit(x, y, batch_size=32, epochs=4, shuffle=True, verbose=0, callbacks=[Journal()])
