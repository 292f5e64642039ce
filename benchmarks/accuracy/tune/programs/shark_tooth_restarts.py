"""Fossil shark teeth: genus and wear from outlines, a net borrowed from recent teeth.

Two heads.  First the borrowed trunk rests and only the heads learn, then the whole net is
trained under a cosine schedule with warm restarts.  Gradient norms go to a CSV file.
"""

from dataclasses import dataclass
import csv
import os
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


@dataclass
class Settings:
    recent: int = 960
    fossils: int = 1280
    side: int = 44
    genera: int = 8
    batch: int = 32
    borrow_epochs: int = 1
    head_epochs: int = 2
    full_epochs: int = 5
    seed: int = 55


def teeth(n, cfg, rng, erode):
    yy, xx = np.mgrid[0 : 1 : cfg.side * 1j, -1 : 1 : cfg.side * 1j]
    genus = rng.integers(0, cfg.genera, n)
    wear = rng.uniform(0, erode, n).astype("float32")
    img = np.empty((n, cfg.side, cfg.side, 1), "float32")
    for i in range(n):
        lean = 0.06 * genus[i] + rng.normal(0, 0.03)
        edge = (0.8 - 0.06 * genus[i]) * (1 - yy ** (1 + 0.25 * genus[i]))
        saw = 0.04 * np.sin(yy * (20 + 6 * genus[i])) * (1 - wear[i])
        img[i, :, :, 0] = (np.abs(xx - lean * yy) < edge + saw) & (yy < 1 - 0.3 * wear[i])
    return img + 0.2 * rng.normal(size=img.shape).astype("float32"), genus.astype("int32"), wear


class Trunk(keras.Model):
    def __init__(self, widths=(16, 32, 48, 64)):
        super().__init__(name="trunk")
        self.convs = [layers.Conv2D(w, 3, padding="same", activation="relu") for w in widths]
        self.more = [layers.Conv2D(w, 3, padding="same", activation="relu") for w in widths]
        self.pool = layers.MaxPooling2D()
        self.flat = layers.GlobalAveragePooling2D()

    def call(self, x):
        for a, b in zip(self.convs, self.more):
            x = self.pool(b(a(x)))
        return self.flat(x)


class ToothNet(keras.Model):
    def __init__(self, trunk, genera):
        super().__init__(name="tooth")
        self.trunk = trunk
        self.genus = layers.Dense(genera, name="genus")
        self.wear = layers.Dense(1, name="wear")
        self.norms = keras.metrics.Mean(name="grad_norm")
        self.score = keras.metrics.SparseCategoricalAccuracy(name="accuracy")
        self.loss_mean = keras.metrics.Mean(name="loss")

    def call(self, x, training=False):
        z = self.trunk(x)
        return self.genus(z), self.wear(z)

    @property
    def metrics(self):
        return [self.loss_mean, self.score, self.norms]

    def train_step(self, data):
        x, (g, w) = data
        with tf.GradientTape() as tape:
            logits, worn = self(x, training=True)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(g, logits))
            loss += 0.5 * tf.reduce_mean(tf.square(worn[:, 0] - w))
        grads = tape.gradient(loss, self.trainable_variables)
        grads, norm = tf.clip_by_global_norm(grads, 3.0)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.loss_mean.update_state(loss)
        self.score.update_state(g, logits)
        self.norms.update_state(norm)
        return {m.name: m.result() for m in self.metrics}


class NormLedger(keras.callbacks.Callback):
    def __init__(self, path):
        super().__init__()
        self.path, self.rows, self.phase = path, [], ""

    def on_epoch_end(self, epoch, logs=None):
        self.rows.append((self.phase, epoch, logs["loss"], logs["grad_norm"]))
        print(f"  {self.phase} {epoch}: norm {logs['grad_norm']:.3f}")

    def save(self):
        with open(self.path, "w", newline="") as f:
            csv.writer(f).writerows(self.rows)


def as_dataset(img, genus, wear, batch):
    return (
        tf.data.Dataset.from_tensor_slices((img, (genus, wear)))
        .shuffle(len(img), seed=1)
        .batch(batch, drop_remainder=True)
        .prefetch(2)
    )


def main():
    cfg = Settings()
    keras.utils.set_random_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    recent = as_dataset(*teeth(cfg.recent, cfg, rng, 0.2), cfg.batch)
    fossils = as_dataset(*teeth(cfg.fossils, cfg, rng, 0.9), cfg.batch)
    ledger = NormLedger(os.path.join(tempfile.mkdtemp(), "norms.csv"))
    trunk = Trunk()
    per_epoch = cfg.fossils // cfg.batch
    restarts = keras.optimizers.schedules.CosineDecayRestarts(
        1.5e-3, 2 * per_epoch, t_mul=1.0, m_mul=0.6
    )
    plan = [
        ("recent", recent, cfg.borrow_epochs, True, 2e-3),
        ("heads", fossils, cfg.head_epochs, False, 5e-3),
        ("whole", fossils, cfg.full_epochs, True, restarts),
    ]
    model = ToothNet(trunk, cfg.genera)
    began = time.time()
    for name, data, epochs, awake, lr in plan:
        trunk.trainable = awake
        ledger.phase = name
        model.compile(optimizer=keras.optimizers.Adam(lr))
        model.fit(data, epochs=epochs, verbose=2, callbacks=[ledger])
    ledger.save()
    print(f"trained for {time.time() - began:.1f} s")


if __name__ == "__main__":
    main()
