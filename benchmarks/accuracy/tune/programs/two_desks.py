"""One text encoder, two desks: language of a letter, and its next word each third batch."""

import numpy as np
import tensorflow as tf

WORDS, LENGTH, LANGUAGES, BATCH = 3000, 32, 12, 32
rng = np.random.default_rng(90)


def letters():
    language = rng.integers(0, LANGUAGES, BATCH)
    start = language * (WORDS // LANGUAGES)
    walk = rng.integers(0, 9, (BATCH, LENGTH + 1)).cumsum(axis=1) % (WORDS // LANGUAGES)
    words = (start[:, None] + walk).astype("int32")
    return words[:, :-1], language, words[:, 1:]


tokens = tf.keras.Input((LENGTH,), dtype="int32")
embedding = tf.keras.layers.Embedding(WORDS, 64)
encoder = tf.keras.layers.GRU(128, return_sequences=True)
encoded = encoder(embedding(tokens))
pooled = tf.keras.layers.GlobalAveragePooling1D()(encoded)
who = tf.keras.layers.Dense(LANGUAGES)(pooled)
word = tf.keras.layers.Dense(WORDS)(encoded)
language_model = tf.keras.Model(tokens, who)
word_model = tf.keras.Model(tokens, word)
for model in (language_model, word_model):
    model.compile(
        optimizer=tf.keras.optimizers.Adam(1e-3),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )

who_loss, word_loss = [], []
for step in range(600):
    words, language, following = letters()
    if step % 3 == 2:
        word_loss.append(float(word_model.train_on_batch(words, following)))
    else:
        who_loss.append(float(language_model.train_on_batch(words, language)))
    if step % 60 == 59:
        print(f"step {step + 1}: language {who_loss[-1]:.3f}, next word {word_loss[-1]:.3f}")
