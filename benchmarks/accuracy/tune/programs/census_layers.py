"""Income from a census-like table; strings and numbers are prepared by Keras layers."""

import csv

import numpy as np
import tensorflow as tf

NUMBERS = ["age", "hours", "gain"]
WORDS = {
    "work": ["private", "state", "self", "none"],
    "school": ["basic", "high", "bachelor", "master", "doctor"],
    "place": [f"county {k}" for k in range(60)],
}


def write_table(path, rows, seed):
    rng = np.random.default_rng(seed)
    with open(path, "w", newline="") as file:
        table = csv.writer(file)
        table.writerow([*NUMBERS, *WORDS, "rich"])
        for _ in range(rows):
            age, hours, gain = rng.integers(17, 80), rng.normal(40, 8), rng.exponential(900)
            words = {name: rng.integers(0, len(v)) for name, v in WORDS.items()}
            score = (age - 40) / 20 + (hours - 40) / 10 + words["school"] - 2 + gain / 4000
            values = [WORDS[name][k] for name, k in words.items()]
            table.writerow([age, round(hours, 1), round(gain), *values, int(score > 0.6)])


def load(path, batch, training):
    data = tf.data.experimental.make_csv_dataset(
        path,
        batch_size=batch,
        label_name="rich",
        num_epochs=1,
        shuffle=training,
        shuffle_buffer_size=4000,
        num_parallel_reads=1,
    )
    return data.map(lambda x, y: ({k: v[:, None] for k, v in x.items()}, y)).cache().prefetch(2)


write_table("train.csv", 12_000, 1)
write_table("valid.csv", 2_000, 2)
train, valid = load("train.csv", 64, True), load("valid.csv", 250, False)

inputs, encoded = {}, []
for name in NUMBERS:
    inputs[name] = tf.keras.Input((1,), name=name, dtype="float32")
    scale = tf.keras.layers.Normalization()
    scale.adapt(train.map(lambda x, _, name=name: tf.cast(x[name], tf.float32)))
    encoded.append(scale(inputs[name]))
for name, vocabulary in WORDS.items():
    inputs[name] = tf.keras.Input((1,), name=name, dtype="string")
    lookup = tf.keras.layers.StringLookup(vocabulary=vocabulary)
    index = lookup(inputs[name])
    vector = tf.keras.layers.Embedding(lookup.vocabulary_size(), 8)(index)
    encoded.append(tf.keras.layers.Flatten()(vector))

x = tf.keras.layers.concatenate(encoded)
for _ in range(4):
    x = tf.keras.layers.Dense(384, activation="relu")(x)
    x = tf.keras.layers.Dropout(0.2)(x)
model = tf.keras.Model(inputs, tf.keras.layers.Dense(1, activation="sigmoid")(x))
model.compile("adam", "binary_crossentropy", metrics=["AUC"])
model.fit(train, validation_data=valid, epochs=14, class_weight={0: 1.0, 1: 1.5}, verbose=2)
