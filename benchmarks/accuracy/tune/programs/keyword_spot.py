"""Small-footprint keyword spotting on synthesised one-second clips."""

import csv

import keras
import numpy as np
import tensorflow as tf
from keras import layers

WORDS = ["up", "down", "left", "right", "stop", "go", "yes", "no"]
RATE = 8000
N_TRAIN, N_VAL = 3000, 160
BATCH = 48
EPOCHS = 12

keras.utils.set_random_seed(99)
MEL = tf.signal.linear_to_mel_weight_matrix(40, 257, RATE, 60.0, 3800.0)


def synth_clip(word, rng):
    """Two gliding formants in a random position, room noise on top."""
    t = np.arange(RATE) / RATE
    f1 = 220 + 60 * word + rng.normal(0, 12)
    f2 = 900 + 170 * ((word * 3) % 8) + rng.normal(0, 40)
    glide = np.linspace(-1, 1, RATE) * (1 if word % 2 else -1)
    voice = np.sin(2 * np.pi * np.cumsum(f1 + 40 * glide) / RATE)
    voice += 0.6 * np.sin(2 * np.pi * np.cumsum(f2 + 200 * glide) / RATE)
    centre, width = rng.uniform(0.3, 0.7), rng.uniform(0.08, 0.16)
    env = np.exp(-0.5 * ((t - centre) / width) ** 2)
    return (voice * env * rng.uniform(0.3, 1.0) + rng.normal(0, 0.35, RATE)).astype(np.float32)


def synth_set(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(WORDS), n)
    return np.stack([synth_clip(w, rng) for w in y]), y.astype(np.int32)


def features(clip, label):
    clip = clip - tf.reduce_mean(clip)
    pre = tf.concat([clip[:1], clip[1:] - 0.97 * clip[:-1]], 0)
    spec = tf.abs(tf.signal.stft(pre, frame_length=400, frame_step=80, fft_length=512))
    floor = tf.sort(spec, axis=0)[spec.shape[0] // 5]
    spec = tf.maximum(spec - 1.2 * floor, 0.05 * spec)
    mel = tf.math.log(tf.matmul(tf.square(spec), MEL) + 1e-5)
    mel = mel - tf.reduce_mean(mel, axis=0, keepdims=True)
    coeff = tf.signal.mfccs_from_log_mel_spectrograms(mel)[:, :20]
    delta = tf.concat([tf.zeros_like(coeff[:1]), coeff[1:] - coeff[:-1]], 0)
    return tf.concat([coeff, delta], axis=1), label


def shift(feat, label):
    roll = tf.random.uniform([], -8, 9, tf.int32)
    return tf.roll(feat, roll, axis=0), label


def train_pipeline(x, y):
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    ds = ds.cache()
    ds = ds.shuffle(N_TRAIN, seed=1)
    ds = ds.map(features, num_parallel_calls=tf.data.AUTOTUNE)
    ds = ds.map(shift, num_parallel_calls=tf.data.AUTOTUNE)
    return ds.batch(BATCH).prefetch(tf.data.AUTOTUNE)


def val_pipeline(x, y):
    return tf.data.Dataset.from_tensor_slices((x, y)).map(features).batch(BATCH).cache()


def ds_block(x, filters, stride):
    x = layers.SeparableConv1D(filters, 9, strides=stride, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization()(x)
    return layers.ReLU()(x)


def build_model():
    inp = keras.Input((96, 40))
    x = layers.Conv1D(64, 5, strides=2, padding="same", activation="relu")(inp)
    for filters, stride in [(64, 1), (96, 2), (96, 1), (128, 2)]:
        x = ds_block(x, filters, stride)
    x = layers.GlobalAveragePooling1D()(x)
    x = layers.Dropout(0.3)(x)
    return keras.Model(inp, layers.Dense(len(WORDS), activation="softmax")(x))


class ConfusionReport(keras.callbacks.Callback):
    """Keeps a confusion table once the model has settled a little."""

    def __init__(self, val_ds, first_epoch, path):
        super().__init__()
        feats, labels = zip(*[(f.numpy(), l.numpy()) for f, l in val_ds.unbatch()])
        self.feats, self.labels = np.stack(feats), np.array(labels)
        self.first_epoch = first_epoch
        self.path = path

    def on_epoch_end(self, epoch, logs=None):
        if epoch < self.first_epoch:
            return
        table = np.zeros((len(WORDS), len(WORDS)), int)
        for feat, label in zip(self.feats, self.labels):
            guess = self.model.predict(feat[None], verbose=0)
            table[label, int(np.argmax(guess[0]))] += 1
        with open(self.path, "w", newline="") as fh:
            rows = csv.writer(fh)
            rows.writerow(["truth"] + WORDS)
            for word, row in zip(WORDS, table):
                rows.writerow([word] + row.tolist())
        recall = np.diag(table) / np.maximum(table.sum(1), 1)
        print(f"  weakest word: {WORDS[int(np.argmin(recall))]} ({recall.min():.2f})")


def main():
    x_train, y_train = synth_set(N_TRAIN, 10)
    x_val, y_val = synth_set(N_VAL, 11)
    train_ds, val_ds = train_pipeline(x_train, y_train), val_pipeline(x_val, y_val)

    model = build_model()
    model.compile(
        keras.optimizers.Adam(2e-3), "sparse_categorical_crossentropy", metrics=["accuracy"]
    )
    model.fit(
        train_ds,
        validation_data=val_ds,
        epochs=EPOCHS,
        verbose=2,
        callbacks=[
            keras.callbacks.ReduceLROnPlateau(patience=2, factor=0.5),
            ConfusionReport(val_ds, first_epoch=8, path="confusion.csv"),
            keras.callbacks.CSVLogger("history.csv"),
        ],
    )
    model.save("keyword_spot.keras")


if __name__ == "__main__":
    main()
