"""Species from cicada recordings, Keras fit; after a clean start the clips are mixed with field noise."""

import argparse
import time

import numpy as np
import tensorflow as tf

RATE = 2000
CLIP = 2048
SPECIES = 6
rng = np.random.default_rng(77)


def synth_clip(kind):
    t = np.arange(CLIP) / RATE
    carrier = np.sin(2 * np.pi * (220 + 90 * kind) * t + rng.uniform(0, 6.28))
    pulses = 0.5 + 0.5 * np.sin(2 * np.pi * (6 + 3 * kind) * t + rng.uniform(0, 6.28))
    return (carrier * pulses + rng.normal(0, 0.3, CLIP)).astype("float32")


def make_recordings(n):
    kinds = rng.integers(0, SPECIES, n).astype("int32")
    return np.stack([synth_clip(k) for k in kinds]), kinds


class FieldMixer:
    """Puts a clip into the field: echo of the trees, insects in the background, drifting gain."""

    def __init__(self, taps=1500):
        decay = np.exp(-np.arange(taps) / 120.0)
        self.echoes = [(rng.normal(0, 1, taps) * decay).astype("float32") for _ in range(8)]
        for e in self.echoes:
            e[0] = 4.0

    def __call__(self, clip):
        echo = self.echoes[rng.integers(len(self.echoes))]
        wet = np.convolve(clip, echo)[:CLIP] / 6.0
        hum = np.zeros(CLIP)
        t = np.arange(CLIP) / RATE
        for f in rng.uniform(80, 900, 5):
            hum += rng.uniform(0.01, 0.05) * np.sin(2 * np.pi * f * t)
        gain = np.interp(np.arange(CLIP), np.linspace(0, CLIP, 9), rng.uniform(0.7, 1.3, 9))
        return self.through_leaves((wet + hum) * gain, rng.uniform(0.2, 0.6)).astype("float32")

    def through_leaves(self, wave, a):
        out = np.empty_like(wave)
        level = 0.0
        for i in range(len(wave)):
            level += a * (wave[i] - level)
            out[i] = level
        return out


class ClipSequence(tf.keras.utils.PyDataset):
    def __init__(self, clips, kinds, batch, clean_epochs, **kw):
        super().__init__(**kw)
        self.clips, self.kinds, self.batch = clips, kinds, batch
        self.clean_epochs = clean_epochs
        self.epoch = 0
        self.mixer = FieldMixer()
        self.order = rng.permutation(len(clips))

    def __len__(self):
        return len(self.clips) // self.batch

    def __getitem__(self, i):
        idx = self.order[i * self.batch : (i + 1) * self.batch]
        x = self.clips[idx]
        if self.epoch >= self.clean_epochs:
            x = np.stack([self.mixer(c) for c in x])
        return x, self.kinds[idx]

    def on_epoch_end(self):
        self.epoch += 1
        self.order = rng.permutation(len(self.clips))


def build_model():
    inp = tf.keras.Input((CLIP,))
    h = tf.keras.layers.Reshape((CLIP, 1))(inp)
    h = tf.keras.layers.Conv1D(24, 32, strides=8, padding="same", activation="relu")(h)
    h = tf.keras.layers.BatchNormalization()(h)
    h = tf.keras.layers.Conv1D(32, 9, strides=2, padding="same", activation="relu")(h)
    h = tf.keras.layers.BatchNormalization()(h)
    h = tf.keras.layers.Conv1D(48, 9, strides=2, padding="same", activation="relu")(h)
    h = tf.keras.layers.GlobalMaxPooling1D()(h)
    h = tf.keras.layers.Dropout(0.2)(h)
    out = tf.keras.layers.Dense(SPECIES)(h)
    return tf.keras.Model(inp, out)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=9)
    ap.add_argument("--clean", type=int, default=2)
    ap.add_argument("--batch", type=int, default=48)
    args = ap.parse_args()
    tf.keras.utils.set_random_seed(77)

    clips, kinds = make_recordings(1680)
    val = make_recordings(200)
    train = ClipSequence(clips[:1440], kinds[:1440], args.batch, args.clean)
    model = build_model()
    model.compile(
        tf.keras.optimizers.Adam(1e-3),
        tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    t0 = time.time()
    hist = model.fit(
        train, epochs=args.epochs, validation_data=val, validation_batch_size=100, verbose=2
    )
    print(
        f"best val accuracy {max(hist.history['val_accuracy']):.3f}, training {time.time() - t0:.2f} s"
    )


if __name__ == "__main__":
    main()
