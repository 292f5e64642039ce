"""Pacific barkcloth (tapa, siapo, ngatu): which island group?  Transfer learning.

A small backbone learns to name synthetic stamp motifs, then is moved to few labelled
cloths: first only the new head, then the upper blocks too, at last everything.
Keras fit with early stopping and the best weights restored between the phases.
"""

import dataclasses
import json
import os
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
import keras
from keras import layers


@dataclasses.dataclass
class Phase:
    title: str
    thaw_from: int
    lr: float
    epochs: int


@dataclasses.dataclass
class Plan:
    side: int = 40
    motifs: int = 12
    islands: int = 5
    n_source: int = 1536
    n_cloth: int = 1200
    batch: int = 64
    pretrain_epochs: int = 5
    patience: int = 3
    seed: int = 77
    phases: tuple = (
        Phase("head", 99, 5e-3, 3),
        Phase("upper", 3, 1e-3, 6),
        Phase("all", 0, 4e-4, 6),
    )


# --------------------------------------------------------------- pictures
class ClothPress:
    def __init__(self, plan):
        self.plan = plan
        self.rng = np.random.default_rng(plan.seed)
        coarse = (self.rng.random((plan.motifs, 5, 5)) > 0.5).astype("float32")
        self.stamps = coarse.repeat(plan.side // 20, axis=1).repeat(plan.side // 20, axis=2)
        self.taste = self.rng.dirichlet(np.full(plan.motifs, 0.25), plan.islands)

    def sheet(self, motif_grid):
        rows = [np.concatenate([self.stamps[m] for m in row], 1) for row in motif_grid]
        return np.concatenate(rows, 0)

    def source(self):
        p = self.plan
        y = self.rng.integers(0, p.motifs, p.n_source)
        x = np.stack([self.sheet(np.full((4, 4), m)) for m in y])
        return self._dye(x), y.astype("int32")

    def cloths(self):
        p = self.plan
        y = self.rng.integers(0, p.islands, p.n_cloth)
        x = np.stack([self.sheet(self.rng.choice(p.motifs, (4, 4), p=self.taste[i])) for i in y])
        return self._dye(x), y.astype("int32")

    def _dye(self, x):
        tone = self.rng.uniform(0.5, 0.9, (len(x), 1, 1, 3))
        ground = self.rng.uniform(0.8, 1.0, (len(x), 1, 1, 3))
        img = ground - x[..., None] * tone
        return (img + self.rng.normal(0, 0.08, img.shape)).astype("float32")


def mirrored(img, label):
    return tf.image.random_flip_left_right(img), label


def to_dataset(x, y, batch, shuffle_seed=None):
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    if shuffle_seed is not None:
        ds = ds.shuffle(len(x), seed=shuffle_seed).map(mirrored, num_parallel_calls=2)
        return ds.batch(batch, drop_remainder=True).prefetch(2)
    return ds.batch(batch * 2).cache().prefetch(1)


def holdout(x, y, plan):
    cut = int(0.8 * len(x))
    return (
        to_dataset(x[:cut], y[:cut], plan.batch, plan.seed),
        to_dataset(x[cut:], y[cut:], plan.batch),
    )


# --------------------------------------------------------------- network
def block(x, filters, i):
    h = layers.Conv2D(filters, 3, padding="same", use_bias=False, name=f"b{i}_conv_a")(x)
    h = layers.GroupNormalization(4, name=f"b{i}_norm")(h)
    h = layers.Activation("relu", name=f"b{i}_relu")(h)
    h = layers.Conv2D(filters, 3, padding="same", activation="relu", name=f"b{i}_conv_b")(h)
    return layers.AveragePooling2D(2, name=f"b{i}_pool")(h)


def backbone(plan):
    inp = keras.Input((plan.side, plan.side, 3))
    x = inp
    for i, f in enumerate((12, 16, 24, 32)):
        x = block(x, f, i + 1)
    return keras.Model(inp, layers.GlobalAveragePooling2D()(x), name="backbone")


def with_head(base, n_out, name):
    h = layers.Dropout(0.2)(base.output)
    return keras.Model(base.input, layers.Dense(n_out, name="head")(h), name=name)


def thaw(base, first_block):
    for layer in base.layers:
        number = int(layer.name[1]) if layer.name[1:2].isdigit() else 0
        layer.trainable = number >= first_block
    return sum(int(np.prod(v.shape)) for v in base.trainable_variables)


def compiled(model, lr):
    model.compile(
        optimizer=keras.optimizers.Adam(lr),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    return model


# --------------------------------------------------------------- running
class PhaseDiary(keras.callbacks.Callback):
    def __init__(self, title, diary):
        super().__init__()
        self.title, self.diary = title, diary

    def on_epoch_begin(self, epoch, logs=None):
        self.t0 = time.time()

    def on_epoch_end(self, epoch, logs=None):
        row = {k: round(float(v), 4) for k, v in logs.items()}
        row.update(phase=self.title, epoch=epoch, seconds=round(time.time() - self.t0, 2))
        self.diary.append(row)
        print(
            f"{self.title:9s} {epoch:2d}  loss {row['loss']:.3f}  acc {row['accuracy']:.3f}  "
            f"val {row['val_accuracy']:.3f}  {row['seconds']:.2f}s",
            flush=True,
        )


def run_phase(model, title, lr, epochs, data, plan, folder, diary):
    train, val = data
    best = os.path.join(folder, f"{title}.weights.h5")
    compiled(model, lr).fit(
        train,
        validation_data=val,
        epochs=epochs,
        verbose=0,
        callbacks=[
            keras.callbacks.EarlyStopping("val_loss", patience=plan.patience),
            keras.callbacks.ModelCheckpoint(best, save_best_only=True, save_weights_only=True),
            PhaseDiary(title, diary),
        ],
    )
    model.load_weights(best)


def main():
    plan = Plan()
    keras.utils.set_random_seed(plan.seed)
    folder = tempfile.mkdtemp(prefix="tapa_")
    press = ClothPress(plan)
    diary = []
    base = backbone(plan)
    source = holdout(*press.source(), plan)
    run_phase(
        with_head(base, plan.motifs, "motifs"),
        "motifs",
        2e-3,
        plan.pretrain_epochs,
        source,
        plan,
        folder,
        diary,
    )
    cloths = holdout(*press.cloths(), plan)
    model = with_head(base, plan.islands, "islands")
    for phase in plan.phases:
        free = thaw(base, phase.thaw_from)
        print(f"phase {phase.title}: {free} backbone parameters free, lr {phase.lr}")
        run_phase(model, phase.title, phase.lr, phase.epochs, cloths, plan, folder, diary)
    with open(os.path.join(folder, "diary.json"), "w") as f:
        json.dump(diary, f, indent=1)
    print(
        "final accuracy: %.3f" % model.evaluate(cloths[1], verbose=0, return_dict=True)["accuracy"]
    )


if __name__ == "__main__":
    main()
