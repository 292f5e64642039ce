"""Rents from numbers, a district, and the words of the advertisement: three inputs."""

import numpy as np
import tensorflow as tf

DISTRICTS = [f"district_{k}" for k in range(30)]
WORDS = (
    "bright quiet garden balcony lift new old loft cellar view central kitchen bath pets".split()
)
N = 4000


def adverts():
    rng = np.random.default_rng(33)
    numbers = rng.normal(size=(N, 6)).astype("float32")
    district = rng.integers(0, 30, N)
    chosen = rng.random((N, len(WORDS))) < 0.3
    text = [" ".join(np.array(WORDS)[row]) or "flat" for row in chosen]
    rent = numbers[:, 0] * 3 + district % 7 + chosen[:, 3] * 2 - chosen[:, 6] + rng.normal(size=N)
    names = np.array(DISTRICTS)[district]
    return {"numbers": numbers, "district": names, "text": np.array(text)}, rent.astype("float32")


columns, rent = adverts()
split = int(0.85 * N)
lookup = tf.keras.layers.StringLookup(vocabulary=DISTRICTS)
words = tf.keras.layers.TextVectorization(200, output_mode="multi_hot")
words.adapt(columns["text"])
scale = tf.keras.layers.Normalization()
scale.adapt(columns["numbers"][:split])


def dataset(part, training):
    data = tf.data.Dataset.from_tensor_slices(
        ({k: v[part] for k, v in columns.items()}, rent[part])
    )
    if training:
        data = data.shuffle(2000)
    data = data.batch(32)

    def encode(x, y):
        coded = {
            "numbers": x["numbers"],
            "district": lookup(x["district"]),
            "text": words(x["text"]),
        }
        return coded, y

    return data.map(encode, num_parallel_calls=2).prefetch(tf.data.AUTOTUNE)


numbers = tf.keras.Input((6,), name="numbers")
district = tf.keras.Input((), dtype="int64", name="district")
text = tf.keras.Input((words.vocabulary_size(),), name="text")
both = tf.keras.layers.concatenate(
    [
        tf.keras.layers.Dense(32, "relu")(scale(numbers)),
        tf.keras.layers.Embedding(31, 8)(district),
        tf.keras.layers.Dense(16, "relu")(text),
    ]
)
both = tf.keras.layers.Dense(64, "relu")(both)
model = tf.keras.Model(
    {"numbers": numbers, "district": district, "text": text}, tf.keras.layers.Dense(1)(both)
)
model.compile("rmsprop", "mse", metrics=["mae"])
history = model.fit(
    dataset(slice(0, split), True),
    validation_data=dataset(slice(split, N), False),
    epochs=12,
    verbose=2,
    callbacks=[tf.keras.callbacks.TensorBoard("tb"), tf.keras.callbacks.TerminateOnNaN()],
)
