"""Topic classification of news teasers (first 32 tokens decide).

A transformer-ish encoder trained with R-Drop regularisation (two dropout passes
of the same batch have to agree), implemented as a keras.Model with its own
train_step.  Text lives in line files, one per topic.
"""

import json
import pathlib
import tempfile

import keras
import numpy as np
import tensorflow as tf

TOPICS = ["markets", "sport", "science", "travel", "politics", "food"]
VOCAB = 4000
MAX_LEN = 32
BATCH = 64
EPOCHS = 9
LINES_PER_TOPIC = 1400


def write_corpus(root: pathlib.Path):
    rng = np.random.default_rng(99)
    syll = ["ba", "ke", "lo", "mi", "tor", "ven", "sa", "du", "rin", "pex", "ol", "qua"]
    words = np.array(["".join(rng.choice(syll, rng.integers(2, 5))) for _ in range(5000)])
    for k, topic in enumerate(TOPICS):
        weights = rng.dirichlet(np.full(5000, 0.05)) * 0.35 + 0.65 / 5000
        weights /= weights.sum()
        with open(root / f"{topic}.txt", "w") as f:
            for n in rng.integers(40, 110, LINES_PER_TOPIC):
                f.write(" ".join(rng.choice(words, n, p=weights)).capitalize() + ".\n")


def load_lines(root: pathlib.Path):
    texts, labels = [], []
    for k, topic in enumerate(TOPICS):
        lines = (root / f"{topic}.txt").read_text().splitlines()
        texts += lines
        labels += [k] * len(lines)
    order = np.random.default_rng(1).permutation(len(texts))
    texts = np.array(texts, dtype=object)[order]
    labels = np.array(labels, dtype=np.int32)[order]
    cut = int(0.9 * len(texts))
    return (texts[:cut], labels[:cut]), (texts[cut:], labels[cut:])


def make_dataset(texts, labels, vectorize, training):
    ds = tf.data.Dataset.from_tensor_slices((texts.astype(str), labels))
    if training:
        ds = ds.shuffle(len(texts), seed=3)
    ds = ds.batch(BATCH, drop_remainder=training)
    ds = ds.map(lambda t, y: (vectorize(t), y))
    return ds.prefetch(2)


class EncoderBlock(keras.layers.Layer):
    def __init__(self, dim, heads, rate):
        super().__init__()
        self.att = keras.layers.MultiHeadAttention(heads, dim // heads, dropout=rate)
        self.up = keras.layers.Dense(2 * dim, activation="gelu")
        self.down = keras.layers.Dense(dim)
        self.n1 = keras.layers.LayerNormalization()
        self.n2 = keras.layers.LayerNormalization()
        self.drop = keras.layers.Dropout(rate)

    def call(self, x, training=False):
        h = self.n1(x)
        x = x + self.drop(self.att(h, h, training=training), training=training)
        h = self.down(self.up(self.n2(x)))
        return x + self.drop(h, training=training)


class TopicModel(keras.Model):
    def __init__(self, dim=64, heads=4, rate=0.15, alpha=0.5):
        super().__init__()
        self.alpha = alpha
        self.tok = keras.layers.Embedding(VOCAB, dim)
        self.pos = keras.layers.Embedding(MAX_LEN, dim)
        self.block = EncoderBlock(dim, heads, rate)
        self.head = keras.layers.Dense(len(TOPICS))
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.acc = keras.metrics.SparseCategoricalAccuracy(name="acc")

    @property
    def metrics(self):
        return [self.loss_tracker, self.acc]

    def call(self, ids, training=False):
        x = self.tok(ids) + self.pos(tf.range(MAX_LEN))
        x = self.block(x, training=training)
        keep = tf.cast(ids > 0, x.dtype)[..., None]
        pooled = tf.reduce_sum(x * keep, 1) / (tf.reduce_sum(keep, 1) + 1e-6)
        return self.head(pooled)

    def train_step(self, data):
        ids, y = data
        with tf.GradientTape() as tape:
            a = self(ids, training=True)
            b = self(ids, training=True)
            ce = keras.ops.mean(
                keras.losses.sparse_categorical_crossentropy(y, a, from_logits=True)
                + keras.losses.sparse_categorical_crossentropy(y, b, from_logits=True)
            )
            pa, pb = tf.nn.log_softmax(a), tf.nn.log_softmax(b)
            kl = tf.reduce_mean(tf.reduce_sum((tf.exp(pa) - tf.exp(pb)) * (pa - pb), 1))
            loss = 0.5 * ce + self.alpha * kl
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.loss_tracker.update_state(loss)
        self.acc.update_state(y, a)
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, data):
        ids, y = data
        logits = self(ids, training=False)
        self.loss_tracker.update_state(
            keras.losses.sparse_categorical_crossentropy(y, logits, from_logits=True)
        )
        self.acc.update_state(y, logits)
        return {m.name: m.result() for m in self.metrics}


class WeightMonitor(keras.callbacks.Callback):
    """Appends the norm of every weight to a json-lines file."""

    def __init__(self, path):
        super().__init__()
        self.file = open(path, "w")
        self.step = 0

    def on_train_batch_end(self, batch, logs=None):
        record = {"step": self.step, "loss": float(logs["loss"])}
        for w in self.model.trainable_weights:
            record[w.path] = float(tf.norm(w))
        self.file.write(json.dumps(record) + "\n")
        self.step += 1

    def on_train_end(self, logs=None):
        self.file.close()


def main():
    keras.utils.set_random_seed(7)
    with tempfile.TemporaryDirectory(prefix="headlines_") as tmp:
        root = pathlib.Path(tmp)
        write_corpus(root)
        train, test = load_lines(root)
        vectorize = keras.layers.TextVectorization(max_tokens=VOCAB, output_sequence_length=MAX_LEN)
        vectorize.adapt(tf.data.Dataset.from_tensor_slices(train[0].astype(str)).batch(256))

        model = TopicModel()
        model.compile(optimizer=keras.optimizers.AdamW(1e-3, weight_decay=1e-4))
        model.fit(
            make_dataset(*train, vectorize, True),
            validation_data=make_dataset(*test, vectorize, False),
            epochs=EPOCHS,
            verbose=2,
            callbacks=[WeightMonitor(root / "weights.jsonl")],
        )
        model.save_weights(root / "topics.weights.h5")


if __name__ == "__main__":
    main()
