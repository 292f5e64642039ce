"""Guess the province of an ogham stone from its transliterated reading.

Readings are split with the string ops, looked up in a static table and packed
once; the net is trained for some epochs, more letters are masked later on.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

SEED = 77
tf.keras.utils.set_random_seed(SEED)
LETTERS = list("BLFSNHDTCQMGXZRAOUEI")
PROVINCES = ["munster", "leinster", "connacht", "ulster", "dyfed", "mann"]
EPOCHS = 12
BATCH = 192


# --- corpus -----------------------------------------------------------------
def carve(n, seed):
    rng = np.random.default_rng(seed)
    profile = np.random.default_rng(5).dirichlet(
        np.full(len(LETTERS), 0.6), size=(len(PROVINCES), 4)
    )
    where = rng.integers(0, len(PROVINCES), n)
    texts = []
    for w in where:
        words = []
        for k in range(6):
            words.append("".join(rng.choice(LETTERS, rng.integers(6, 9), p=profile[w, k % 4])))
        texts.append(" ".join(words))
    return texts, where.astype(np.int32)


texts, province = carve(3200, SEED)
print(len(texts), "stones, e.g.", texts[0])

keys = tf.constant(LETTERS + [" "])
table = tf.lookup.StaticHashTable(
    tf.lookup.KeyValueTensorInitializer(keys, tf.range(2, len(LETTERS) + 3, dtype=tf.int64)),
    default_value=1,
)
ragged = tf.strings.unicode_split(tf.constant(texts), "UTF-8")
codes = tf.ragged.map_flat_values(table.lookup, ragged)
codes = codes.to_tensor(default_value=0, shape=(None, 48))
codes = tf.cast(codes, tf.int32)
print("packed", codes.shape)

n_dev = 200
train = (
    tf.data.Dataset.from_tensor_slices((codes[n_dev:], province[n_dev:]))
    .cache()
    .shuffle(600, seed=SEED)
    .batch(BATCH, drop_remainder=True)
    .prefetch(tf.data.AUTOTUNE)
)
dev_x, dev_y = codes[:n_dev], tf.constant(province[:n_dev])


# --- model ------------------------------------------------------------------
class Reader(tf.keras.Model):
    def __init__(self):
        super().__init__()
        L = tf.keras.layers
        self.emb = L.Embedding(len(LETTERS) + 3, 96)
        self.c1 = L.Conv1D(192, 5, padding="same", activation="relu")
        self.c2 = L.Conv1D(192, 5, padding="same", activation="relu")
        self.drop = L.Dropout(0.2)
        self.out = L.Dense(len(PROVINCES))

    def call(self, x, training=False):
        keep = tf.cast(x > 0, tf.float32)[..., None]
        h = self.c1(self.emb(x) * keep)
        h = self.c2(h) * keep
        h = tf.reduce_sum(h, 1) / (tf.reduce_sum(keep, 1) + 1e-6)
        return self.out(self.drop(h, training=training))


reader = Reader()
reader(dev_x[:2])
opt = tf.keras.optimizers.Adam(1.5e-3)
ce = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def train_step(x, y, masked):
    worn = tf.random.uniform(tf.shape(x)) < masked
    x = tf.where(worn & (x > 0), tf.ones_like(x), x)
    with tf.GradientTape() as tape:
        loss = ce(y, reader(x, training=True))
    opt.apply_gradients(
        zip(tape.gradient(loss, reader.trainable_variables), reader.trainable_variables)
    )
    return loss


@tf.function
def dev_accuracy():
    guess = tf.argmax(reader(dev_x, training=False), -1, output_type=tf.int32)
    return tf.reduce_mean(tf.cast(guess == dev_y, tf.float32))


best = 0.0
for epoch in range(EPOCHS):
    masked = tf.constant(min(0.02 + 0.03 * epoch, 0.15))
    total, n = 0.0, 0
    for x, y in train:
        total += train_step(x, y, masked)
        n += 1
    acc = float(dev_accuracy())
    best = max(best, acc)
    print(
        f"epoch {epoch + 1}: loss {float(total) / n:.4f} masked {float(masked):.2f} dev {acc:.3f}"
    )
print("best dev accuracy", round(best, 3))
