"""Which tram line rings? Bell sounds along a street, classified from filter banks.

Recordings come out of a generator, cut into frames on the fly.
"""

from dataclasses import dataclass, field

import keras
import numpy as np
import tensorflow as tf
from keras import layers


@dataclass
class Settings:
    seed: int = 1904
    lines: tuple = ("2", "7", "11", "N4", "D")
    recordings: int = 3000
    samples: int = 4096
    frame: int = 256
    hop: int = 128
    bands: int = 32
    batch: int = 50
    epochs: int = 11
    widths: list = field(default_factory=lambda: [64, 96, 96])


S = Settings()
keras.utils.set_random_seed(S.seed)


def record_street():
    rng = np.random.default_rng(S.seed)
    t = np.arange(S.samples, dtype="float32")
    label = rng.integers(0, len(S.lines), S.recordings)
    audio = np.empty((S.recordings, S.samples), "float32")
    for i, k in enumerate(label):
        f = 0.2 + 0.09 * k + rng.normal(0, 0.01)
        start = rng.integers(0, S.samples // 2)
        d = np.maximum(t - start, 0)
        audio[i] = np.sin(f * d) * np.exp(-d / 600) + 0.4 * np.sin(2.7 * f * d) * np.exp(-d / 300)
        audio[i] += 0.3 * rng.standard_normal(S.samples, dtype="float32")
    return audio, label.astype("int32")


class BellFeatures:
    def __init__(self, audio, label):
        self.audio, self.label = audio, label
        edges = np.linspace(1, S.frame // 2, S.bands + 2)
        f = np.arange(S.frame // 2 + 1)[:, None]
        up = (f - edges[:-2]) / (edges[1:-1] - edges[:-2])
        down = (edges[2:] - f) / (edges[2:] - edges[1:-1])
        self.bank = np.maximum(0, np.minimum(up, down))
        self.rng = np.random.default_rng(S.seed + 1)

    def frames(self, wave):
        n = 1 + (len(wave) - S.frame) // S.hop
        idx = np.arange(S.frame)[None] + S.hop * np.arange(n)[:, None]
        spec = np.abs(np.fft.rfft(wave[idx] * np.hanning(S.frame))) ** 2
        return np.log(spec @ self.bank + 1e-4)

    def normalised(self):
        feats = np.stack([self.frames(w) for w in self.audio])
        centre = np.median(feats, axis=(0, 1))
        spread = np.median(np.abs(feats - centre), axis=(0, 1))
        return ((feats - centre) / spread).astype("float32")

    def __call__(self):
        feats = self.normalised()
        for start in range(0, S.recordings, S.batch):
            if start == 0:
                order = self.rng.permutation(S.recordings)
            pick = order[start : start + S.batch]
            yield feats[pick], self.label[pick]


def classifier(n_frames):
    inp = keras.Input((n_frames, S.bands))
    x = inp
    for w in S.widths:
        x = layers.Conv1D(w, 5, padding="same", activation="relu")(x)
    x = layers.GlobalMaxPooling1D()(x)
    x = layers.Dropout(0.2)(x)
    return keras.Model(inp, layers.Dense(len(S.lines), activation="softmax")(x))


def main():
    audio, label = record_street()
    n_frames = 1 + (S.samples - S.frame) // S.hop
    source = BellFeatures(audio, label)
    ds = tf.data.Dataset.from_generator(
        source,
        output_signature=(
            tf.TensorSpec((S.batch, n_frames, S.bands), tf.float32),
            tf.TensorSpec((S.batch,), tf.int32),
        ),
    )
    ds = ds.prefetch(4)
    model = classifier(n_frames)
    model.compile(
        keras.optimizers.Adam(1e-3),
        "sparse_categorical_crossentropy",
        metrics=["accuracy"],
        jit_compile=False,
    )
    hist = model.fit(ds, epochs=S.epochs, verbose=2)
    print("best train accuracy on the street: %.3f" % max(hist.history["accuracy"]))


if __name__ == "__main__":
    main()
