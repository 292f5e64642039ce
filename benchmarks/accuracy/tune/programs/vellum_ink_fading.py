"""How much will iron-gall ink on vellum fade?  Tabular regression for a conservation lab.

Spectral readings + storage history of a folio -> (delta E after 50 years, risk class).
Plain Keras fit with a handful of callbacks.
"""

import argparse
import os
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import keras
import tensorflow as tf
from keras import layers, ops


def get_args():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--folios", type=int, default=12000)
    ap.add_argument("--bands", type=int, default=96)
    ap.add_argument("--history", type=int, default=24)
    ap.add_argument("--epochs", type=int, default=11)
    ap.add_argument("--batch-size", type=int, default=192)
    ap.add_argument("--width", type=int, default=256)
    ap.add_argument("--lr", type=float, default=1.5e-3)
    ap.add_argument("--seed", type=int, default=1492)
    return ap.parse_args()


# ---------------------------------------------------------------- data
def simulate_folios(args):
    rng = np.random.default_rng(args.seed)
    basis = np.cumsum(rng.normal(size=(6, args.bands)), axis=1) / 6.0
    recipe = rng.dirichlet(np.ones(6), args.folios)
    spectra = recipe @ basis + 0.05 * rng.normal(size=(args.folios, args.bands))
    humidity = rng.uniform(0.3, 0.8, (args.folios, args.history))
    lux = rng.gamma(2.0, 25.0, (args.folios, args.history)) / 100.0
    dose = (humidity * lux).sum(1)
    fade = 1.5 * np.tanh(dose / 12.0) * (0.4 + recipe[:, 0] + 0.5 * recipe[:, 3] ** 2)
    fade += 0.05 * rng.normal(size=args.folios)
    risk = np.digitize(fade, np.quantile(fade, [0.5, 0.8, 0.95]))
    x = {
        "spectrum": spectra.astype("float32"),
        "storage": np.stack([humidity, lux], -1).astype("float32"),
    }
    y = {"fade": fade.astype("float32")[:, None], "risk": risk.astype("int32")[:, None]}
    return x, y


def split(x, y, frac=0.85):
    n = int(len(y["fade"]) * frac)
    head = lambda d: {k: v[:n] for k, v in d.items()}
    tail = lambda d: {k: v[n:] for k, v in d.items()}
    return (head(x), head(y)), (tail(x), tail(y))


def as_dataset(x, y, batch, seed=None):
    ds = tf.data.Dataset.from_tensor_slices((x, y)).cache()
    if seed is not None:
        ds = ds.shuffle(4096, seed=seed)
    return ds.batch(batch, drop_remainder=seed is not None).prefetch(4)


# ---------------------------------------------------------------- model
@keras.saving.register_keras_serializable("vellum")
class GatedBlock(layers.Layer):
    def __init__(self, width, rate=0.1, **kw):
        super().__init__(**kw)
        self.width, self.rate = width, rate
        self.value = layers.Dense(width)
        self.gate = layers.Dense(width, activation="sigmoid")
        self.norm = layers.LayerNormalization()
        self.drop = layers.Dropout(rate)

    def build(self, shape):
        for part in (self.value, self.gate, self.norm):
            part.build((None, self.width))
        super().build(shape)

    def call(self, x, training=False):
        return self.norm(x + self.drop(self.value(x) * self.gate(x), training=training))

    def get_config(self):
        return {**super().get_config(), "width": self.width, "rate": self.rate}


def build_model(args):
    spectrum = keras.Input((args.bands,), name="spectrum")
    storage = keras.Input((args.history, 2), name="storage")
    s = layers.Conv1D(32, 5, strides=2, activation="relu")(storage)
    s = layers.GlobalAveragePooling1D()(s)
    h = layers.Concatenate()([spectrum, s])
    h = layers.Dense(args.width, activation="gelu")(h)
    for _ in range(3):
        h = GatedBlock(args.width)(h)
    fade = layers.Dense(1, name="fade")(h)
    risk = layers.Dense(4, activation="softmax", name="risk")(h)
    model = keras.Model([spectrum, storage], {"fade": fade, "risk": risk})
    model.compile(
        optimizer=keras.optimizers.Adam(args.lr),
        loss={"fade": "huber", "risk": "sparse_categorical_crossentropy"},
        loss_weights={"fade": 1.0, "risk": 0.3},
        metrics={"fade": ["mae"], "risk": ["accuracy"]},
    )
    return model


# ---------------------------------------------------------------- callbacks
class WarmCosine(keras.callbacks.Callback):
    """Learning rate per epoch, short warm-up and cosine afterwards."""

    def __init__(self, peak, epochs, warm=2):
        super().__init__()
        self.peak, self.epochs, self.warm = peak, epochs, warm

    def on_epoch_begin(self, epoch, logs=None):
        if epoch < self.warm:
            lr = self.peak * (epoch + 1) / self.warm
        else:
            t = (epoch - self.warm) / max(1, self.epochs - self.warm)
            lr = 0.5 * self.peak * (1.0 + np.cos(np.pi * t))
        self.model.optimizer.learning_rate.assign(lr)


def cosine(a, b):
    return float(np.dot(a, b) / (np.linalg.norm(a) * np.linalg.norm(b) + 1e-9))


class HeadDrift(keras.callbacks.Callback):
    """Is the trunk still turning, or only shrinking towards where it already was?

    Keeps the direction of the weights of one layer through training and reports how
    close the present one is to the nearest and to the median earlier one.
    """

    def __init__(self, layer_index=-3):
        super().__init__()
        self.layer_index = layer_index
        self.trail = []
        self.summary = []

    def _direction(self):
        return np.concatenate(
            [v.ravel() for v in self.model.layers[self.layer_index].get_weights()]
        )

    def _compare(self, d):
        cos = np.array([cosine(d, old) for old in self.trail])
        return cos.max(), np.median(cos)

    def on_train_batch_end(self, batch, logs=None):
        d = self._direction()
        if self.trail:
            near, typical = self._compare(d)
            self.summary.append((near, typical))
        self.trail.append(d)

    def on_epoch_end(self, epoch, logs=None):
        near, typical = self.summary[-1]
        if logs is not None:
            logs["drift_near"] = float(near)
            logs["drift_typical"] = float(typical)


class ShortPrint(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        self.t0 = time.time()

    def on_epoch_end(self, epoch, logs=None):
        print(
            f"[{epoch + 1:02d}] loss {logs['loss']:.4f}  val mae {logs['val_fade_mae']:.4f}  "
            f"val acc {logs['val_risk_accuracy']:.3f}  {time.time() - self.t0:.2f}s",
            flush=True,
        )


def make_callbacks(args, folder):
    return [
        WarmCosine(args.lr, args.epochs),
        HeadDrift(),
        keras.callbacks.ModelCheckpoint(
            os.path.join(folder, "best.weights.h5"),
            monitor="val_loss",
            save_best_only=True,
            save_weights_only=True,
        ),
        keras.callbacks.EarlyStopping("val_loss", patience=8),
        keras.callbacks.CSVLogger(os.path.join(folder, "log.csv")),
        keras.callbacks.TerminateOnNaN(),
        ShortPrint(),
    ]


def report(model, val):
    x, y = val
    out = model.predict(x, batch_size=1024, verbose=0)
    err = np.abs(out["fade"] - y["fade"])
    for name, q in (("median", 50), ("p90", 90), ("p99", 99)):
        print(f"  abs. error {name}: {np.percentile(err, q):.3f}")


def main():
    args = get_args()
    keras.utils.set_random_seed(args.seed)
    folder = tempfile.mkdtemp(prefix="vellum_")
    train, val = split(*simulate_folios(args))
    model = build_model(args)
    print(f"{model.count_params()} parameters, {len(train[1]['fade'])} folios")
    model.fit(
        as_dataset(*train, args.batch_size, seed=args.seed),
        validation_data=as_dataset(*val, 1024),
        epochs=args.epochs,
        callbacks=make_callbacks(args, folder),
        verbose=0,
    )
    report(model, val)


if __name__ == "__main__":
    main()
