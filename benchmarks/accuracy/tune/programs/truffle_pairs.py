"""Two-input model (soil probe + dog track) for truffle finds (uses all GPUs there are).
The batch doubles after the first half of the training."""

import os
import tempfile

import keras
import numpy as np
import tensorflow as tf

SEED = 64
BATCHES = ((128, 3), (256, 2))  # (batch size, epochs)
N_SOIL, TRACK = 40, 64
keras.utils.set_random_seed(SEED)


def forest(n):
    r = np.random.default_rng(SEED)
    soil = r.normal(size=(n, N_SOIL)).astype("float32")
    steps = r.normal(size=(n, TRACK, 2)).astype("float32")
    steps += 0.3 * soil[:, None, :2]
    track = np.cumsum(steps, axis=1) / 10
    wiggle = np.abs(np.diff(track[..., 0], axis=1)).mean(1) * 10
    score = soil[:, 0] * soil[:, 1] - wiggle + 0.5 * track[:, -1, 1]
    found = (score > np.median(score)).astype("float32")[:, None]
    return soil, track.astype("float32"), found


def build_model():
    soil = keras.Input((N_SOIL,), name="soil")
    track = keras.Input((TRACK, 2), name="track")
    s = keras.layers.Dense(256, activation="relu")(soil)
    s = keras.layers.Dense(128, activation="relu")(s)
    t = track
    for filters in (64, 96, 96):
        t = keras.layers.Conv1D(filters, 5, padding="same", activation="relu")(t)
    t = keras.layers.GlobalAveragePooling1D()(t)
    j = keras.layers.Concatenate()([s, t])
    j = keras.layers.Dense(64, activation="relu")(j)
    out = keras.layers.Dense(1, activation="sigmoid", name="found")(j)
    return keras.Model({"soil": soil, "track": track}, out)


def pipeline(soil, track, found, batch, training):
    ds = tf.data.Dataset.from_tensor_slices(({"soil": soil, "track": track}, found))
    if training:
        ds = ds.cache().shuffle(4096, seed=SEED)
    return ds.batch(batch, drop_remainder=training).prefetch(tf.data.AUTOTUNE)


class Diary(keras.callbacks.Callback):
    def __init__(self, path):
        super().__init__()
        self.path = path

    def on_epoch_end(self, epoch, logs=None):
        with open(self.path, "a") as f:
            f.write("%d,%s\n" % (epoch, ",".join("%.4f" % v for v in logs.values())))
        print("epoch", epoch, {k: round(float(v), 4) for k, v in logs.items()})


def main():
    soil, track, found = forest(7680 + 1024)
    cut = 7680
    gpus = tf.config.list_logical_devices("GPU")
    strategy = tf.distribute.MirroredStrategy() if len(gpus) > 1 else tf.distribute.get_strategy()
    print("replicas:", strategy.num_replicas_in_sync)
    with strategy.scope():
        model = build_model()
        model.compile(
            optimizer=keras.optimizers.Adam(1e-3),
            loss="binary_crossentropy",
            metrics=[keras.metrics.AUC(name="auc")],
            jit_compile=False,
        )
    diary = Diary(os.path.join(tempfile.mkdtemp(), "diary.csv"))
    valid = pipeline(soil[cut:], track[cut:], found[cut:], 256, False)
    begun = 0
    for batch, epochs in BATCHES:
        train = pipeline(soil[:cut], track[:cut], found[:cut], batch, True)
        model.optimizer.learning_rate.assign(1e-3 * batch / BATCHES[0][0])
        model.fit(
            train,
            validation_data=valid,
            epochs=begun + epochs,
            initial_epoch=begun,
            callbacks=[diary],
            verbose=0,
        )
        begun += epochs
    model.save_weights(os.path.join(os.path.dirname(diary.path), "truffle.weights.h5"))


if __name__ == "__main__":
    main()
