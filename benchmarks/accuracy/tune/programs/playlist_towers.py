"""Next-track retrieval for a radio station: listening history -> track.

Two towers with cosine similarity and in-batch softmax.
"""

import numpy as np
import tensorflow as tf
import keras
from keras import layers

TRACKS = 40_000
DIM = 48
HISTORY = 12
BATCH = 256


def simulate_sessions(n, rng):
    """Each listener has a taste; tracks of a taste are contiguous ids."""
    tastes = 200
    width = TRACKS // tastes
    taste = rng.integers(0, tastes, n)
    offs = (rng.beta(1.0, 3.0, (n, HISTORY + 1)) * width).astype("int64")
    wander = rng.random((n, HISTORY + 1)) < 0.1
    ids = taste[:, None] * width + offs
    ids = np.where(wander, rng.integers(0, TRACKS, ids.shape), ids)
    return ids[:, :-1].astype("int32"), ids[:, -1].astype("int32")


class TrackTable(layers.Layer):
    """Unit-length track vectors."""

    def __init__(self, tracks, dim, **kw):
        super().__init__(**kw)
        self.tracks, self.dim = tracks, dim

    def build(self, _):
        self.table = self.add_weight(
            shape=(self.tracks, self.dim), initializer="random_normal", name="table"
        )

    def call(self, ids):
        unit = tf.math.l2_normalize(self.table.value, axis=-1)
        return tf.gather(unit, ids)


class RadioRetriever(keras.Model):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.vectors = TrackTable(TRACKS, DIM)
        self.mix = keras.Sequential(
            [layers.Dense(192, activation="gelu"), layers.Dense(128, activation="gelu")]
        )
        self.score = layers.Dense(1)
        self.out = layers.Dense(DIM)
        self.temperature = 0.1

    def query(self, history):
        v = self.vectors(history)
        h = self.mix(v)
        w = tf.nn.softmax(self.score(h), axis=1)
        q = self.out(tf.reduce_sum(h * w, axis=1))
        return tf.math.l2_normalize(q, axis=-1)

    def call(self, inputs):
        history, target = inputs
        q = self.query(history)
        t = self.vectors(target)
        return tf.matmul(q, t, transpose_b=True) / self.temperature


def in_batch_loss(_, logits):
    labels = tf.range(tf.shape(logits)[0])
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)


class EpochLine(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        t = self.model.vectors.table
        spread = float(tf.math.reduce_std(t[:1000]))
        print(f"epoch {epoch} loss {logs['loss']:.4f} spread {spread:.4f}", flush=True)


def main():
    keras.utils.set_random_seed(11)
    rng = np.random.default_rng(5)
    hist, nxt = simulate_sessions(60_000, rng)
    ds = (
        tf.data.Dataset.from_tensor_slices(((hist, nxt), np.zeros(len(nxt), "float32")))
        .batch(BATCH, drop_remainder=True)
        .cache()
        .shuffle(240)
        .prefetch(2)
    )
    model = RadioRetriever()
    model.compile(optimizer=keras.optimizers.SGD(0.5), loss=in_batch_loss)
    model.fit(ds, epochs=4, verbose=0, callbacks=[EpochLine()])

    q = model.query(hist[:500])
    bank = tf.math.l2_normalize(model.vectors.table.value, axis=-1)
    top = tf.math.top_k(tf.matmul(q, bank, transpose_b=True), 100).indices.numpy()
    hit = np.mean([n in row for n, row in zip(nxt[:500], top)])
    print("recall@100", round(float(hit), 4))


if __name__ == "__main__":
    main()
