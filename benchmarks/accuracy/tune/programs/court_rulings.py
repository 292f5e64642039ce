# Classify (synthetic) court rulings by area of law
import time
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(11)
rng = np.random.default_rng(11)

AREAS = ["tenancy", "labour", "tax", "family", "traffic"]
VOCAB = [f"w{i}" for i in range(4000)]
VOCAB_ARR = np.array(VOCAB)


def write_ruling(area):
    n = int(np.clip(rng.lognormal(4.6, 0.06), 15, 420))
    ids = rng.zipf(1.25, n) % 4000
    topical = rng.random(n) < 0.06
    ids[topical] = 600 + area * 40 + rng.integers(0, 40, topical.sum())
    return " ".join(VOCAB_ARR[ids])


def write_corpus(n):
    areas = rng.integers(0, len(AREAS), n)
    return np.array([write_ruling(a) for a in areas]), areas.astype("int32")


print("reading rulings ...")
train_texts, train_y = write_corpus(1600)
val_texts, val_y = write_corpus(256)

vectorize = layers.TextVectorization(max_tokens=4000, standardize=None)
vectorize.adapt(tf.data.Dataset.from_tensor_slices(train_texts).batch(256))

BATCH = 32


def dataset(texts, y, training):
    ds = tf.data.Dataset.from_tensor_slices((texts, y))
    if training:
        ds = ds.shuffle(len(texts), seed=5)
    ds = ds.batch(BATCH, drop_remainder=True)
    ds = ds.map(lambda t, l: (vectorize(t), l), num_parallel_calls=2)
    return ds.prefetch(4)


train_ds = dataset(train_texts, train_y, True)
val_ds = dataset(val_texts, val_y, False)

inp = keras.Input((None,), dtype="int64")
x = layers.Embedding(4000, 64)(inp)
for width, filters in [(3, 64), (5, 64)]:
    h = layers.Conv1D(filters, width, padding="same", activation="relu")(x)
    x = layers.LayerNormalization()(layers.Add()([x, h]))
gate = layers.Dense(1, activation="sigmoid")(x)
x = layers.GlobalMaxPooling1D()(layers.Multiply()([x, gate]))
x = layers.Dropout(0.3)(x)
out = layers.Dense(len(AREAS))(x)
model = keras.Model(inp, out)
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
    jit_compile=True,
)
model.summary()

t0 = time.time()
model.fit(train_ds, validation_data=val_ds, epochs=12, verbose=2)
print("training took %.1f s" % (time.time() - t0))
