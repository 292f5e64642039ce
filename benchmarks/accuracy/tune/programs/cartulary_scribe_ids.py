"""Which scribe copied this charter line?  Stroke sequences -> scribe id.

After every epoch a small report says how far the embedding space has moved
(we had trouble with drifting prototypes in the catalogue search).
"""

import csv
import os
import tempfile
import time

import numpy as np
import tensorflow as tf

SCRIBES = 12
STROKES = 96
FEATS = 6
EPOCHS = 13
SEED = 1215


def charters(n, rng):
    style = np.random.default_rng(5).normal(0, 1, (SCRIBES, FEATS))
    tempo = np.random.default_rng(6).uniform(0.05, 0.6, (SCRIBES, FEATS))
    who = rng.integers(0, SCRIBES, n)
    t = np.arange(STROKES)[None, :, None]
    x = style[who][:, None] * np.sin(tempo[who][:, None] * t + rng.uniform(0, 6, (n, 1, 1)))
    x += rng.normal(0, 1.0, x.shape)
    return x.astype("float32"), who.astype("int32")


def conv_block(x, width):
    x = tf.keras.layers.Conv1D(width, 7, padding="same")(x)
    x = tf.keras.layers.LayerNormalization()(x)
    return tf.keras.layers.Activation("relu")(x)


def make_model():
    inp = tf.keras.Input((STROKES, FEATS))
    x = conv_block(inp, 48)
    x = tf.keras.layers.MaxPooling1D(2)(x)
    x = conv_block(x, 64)
    x = tf.keras.layers.GlobalAveragePooling1D()(x)
    emb = tf.keras.layers.Dense(32, name="hand")(x)
    out = tf.keras.layers.Dense(SCRIBES)(tf.keras.layers.Activation("relu")(emb))
    return tf.keras.Model(inp, out), tf.keras.Model(inp, emb)


class DriftReport(tf.keras.callbacks.Callback):
    """Writes the mean cosine between catalogue embeddings of epochs."""

    def __init__(self, embedder, catalogue, path):
        super().__init__()
        self.embedder = embedder
        self.catalogue = catalogue
        self.path = path
        self.states = []

    def embed(self):
        z = self.embedder.predict(self.catalogue, batch_size=256, verbose=0)
        return z / np.linalg.norm(z, axis=1, keepdims=True)

    def on_train_begin(self, logs=None):
        self.states.append(self.embedder.get_weights())

    def on_epoch_end(self, epoch, logs=None):
        now = self.embedder.get_weights()
        z = self.embed()
        row = [epoch]
        for old in self.states:
            self.embedder.set_weights(old)
            row.append(float(np.mean(np.sum(self.embed() * z, axis=1))))
        self.embedder.set_weights(now)
        self.states.append(now)
        with open(self.path, "a", newline="") as f:
            csv.writer(f).writerow(["%.4f" % v for v in row])
        print("   moved since last epoch: %.4f" % (1 - row[-1]))


def main():
    tf.keras.utils.set_random_seed(SEED)
    rng = np.random.default_rng(SEED)
    x, y = charters(2048, rng)
    xv, yv = charters(384, rng)
    catalogue, _ = charters(768, rng)
    work = tempfile.mkdtemp(prefix="cartulary_")

    train = (
        tf.data.Dataset.from_tensor_slices((x, y))
        .cache()
        .shuffle(2048, seed=SEED)
        .batch(64)
        .prefetch(2)
    )
    valid = tf.data.Dataset.from_tensor_slices((xv, yv)).batch(256).cache()

    model, embedder = make_model()
    model.compile(
        optimizer=tf.keras.optimizers.Adam(1e-3),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    cbs = [
        tf.keras.callbacks.CSVLogger(os.path.join(work, "history.csv")),
        DriftReport(embedder, catalogue, os.path.join(work, "drift.csv")),
        tf.keras.callbacks.ReduceLROnPlateau(patience=3, factor=0.5),
    ]
    t0 = time.time()
    model.fit(train, validation_data=valid, epochs=EPOCHS, callbacks=cbs, verbose=2)
    print("train_seconds %.2f" % (time.time() - t0))
    print("best val accuracy %.3f" % max(model.history.history["val_accuracy"]))


if __name__ == "__main__":
    main()
