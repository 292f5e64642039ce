"""Grade natural cork stoppers from the line scans of the sorting machine.

The machine sometimes scans one stopper twice (the conveyor slips), and once a twin sat in
the hold-out set.  Since then the loader checks for that and turns such rows off.
"""

import os
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

SEED = 77
GRADES = 5
LINES = 256
settings = dict(stoppers=4800, holdout=600, batch=64, epochs=4, lr=8e-4, slip=0.02)


def scan_stoppers(n, slip, rng):
    grade = rng.integers(0, GRADES, n)
    pores = rng.poisson(4 + 5 * grade)
    scans = rng.normal(0, 0.3, (n, LINES)).astype("float32")
    for i in range(n):
        where = rng.integers(0, LINES - 4, pores[i])
        for w in where:
            scans[i, w : w + 4] -= 0.8
    again = rng.uniform(size=n) < slip
    source = rng.integers(0, n, n)
    scans[again] = scans[source[again]] + 0.002 * rng.normal(size=(again.sum(), LINES))
    grade[again] = grade[source[again]]
    return scans.astype("float32"), grade.astype("int32")


class StopperScans(keras.utils.PyDataset):
    """Batches of (scan, grade, weight); weight 0 for scans that also sit in the hold-out set."""

    def __init__(self, scans, grades, holdout, batch, rng, **kw):
        super().__init__(**kw)
        self.scans, self.grades = scans, grades
        self.holdout = holdout
        self.batch = batch
        self.rng = rng
        self.order = rng.permutation(len(scans))
        self.class_weight = len(grades) / (GRADES * np.bincount(grades, minlength=GRADES))

    def __len__(self):
        return len(self.scans) // self.batch

    def twins_of_holdout(self, scans):
        nearest = np.empty(len(scans), "float32")
        for i, scan in enumerate(scans):
            nearest[i] = np.abs(self.holdout - scan).mean(axis=1).min()
        return nearest < 0.02

    def __getitem__(self, index):
        rows = self.order[index * self.batch : (index + 1) * self.batch]
        scans = self.scans[rows]
        grades = self.grades[rows]
        weight = self.class_weight[grades].astype("float32")
        weight[self.twins_of_holdout(scans)] = 0.0
        return scans[..., None], grades, weight

    def on_epoch_end(self):
        self.rng.shuffle(self.order)


def scan_net():
    inp = keras.Input((LINES, 1))
    x = layers.Conv1D(32, 7, strides=2, padding="same", activation="relu")(inp)
    for width in (48, 64, 64):
        x = layers.Conv1D(width, 5, padding="same", activation="relu")(x)
        x = layers.MaxPooling1D(2)(x)
    x = layers.GlobalAveragePooling1D()(x)
    x = layers.Dense(64, activation="relu")(x)
    x = layers.Dropout(0.2)(x)
    return keras.Model(inp, layers.Dense(GRADES, activation="softmax")(x), name="cork")


class WithinOneGrade(keras.metrics.Metric):
    def __init__(self, name="within_one", **kw):
        super().__init__(name=name, **kw)
        self.hit = self.add_weight(name="hit", initializer="zeros")
        self.n = self.add_weight(name="n", initializer="zeros")

    def update_state(self, y, p, sample_weight=None):
        guess = keras.ops.cast(keras.ops.argmax(p, -1), "float32")
        gap = keras.ops.abs(guess - keras.ops.cast(keras.ops.reshape(y, (-1,)), "float32"))
        self.hit.assign_add(keras.ops.sum(keras.ops.cast(gap <= 1.0, "float32")))
        self.n.assign_add(keras.ops.cast(keras.ops.shape(guess)[0], "float32"))

    def result(self):
        return self.hit / keras.ops.maximum(self.n, 1.0)


def main():
    keras.utils.set_random_seed(SEED)
    rng = np.random.default_rng(SEED)
    scans, grades = scan_stoppers(settings["stoppers"], settings["slip"], rng)
    h = settings["holdout"]
    train = StopperScans(scans[h:], grades[h:], scans[:h], settings["batch"], rng)
    model = scan_net()
    model.compile(
        optimizer=keras.optimizers.Adam(settings["lr"]),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy", WithinOneGrade()],
    )
    folder = tempfile.mkdtemp(prefix="cork_")
    began = time.time()
    model.fit(
        train,
        epochs=settings["epochs"],
        verbose=2,
        validation_data=(scans[:h, :, None], grades[:h]),
        validation_batch_size=200,
        callbacks=[
            keras.callbacks.CSVLogger(os.path.join(folder, "grades.csv")),
            keras.callbacks.ReduceLROnPlateau(patience=2, factor=0.5),
        ],
    )
    print(f"trained for {time.time() - began:.1f} s")
    model.save(os.path.join(folder, "cork.keras"))
    print(
        "hold-out",
        [
            round(float(v), 4)
            for v in model.evaluate(scans[:h, :, None], grades[:h], batch_size=200, verbose=0)
        ],
    )


if __name__ == "__main__":
    main()
