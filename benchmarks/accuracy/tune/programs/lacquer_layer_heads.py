"""Urushi cross-sections: workshop, period and number of lacquer layers from UV photographs.

A multi-output network with a subclassed train_step.  Two stages: everything for some
epochs, then the three heads alone while the photographic trunk stays as it is.
"""

import os
import tempfile
import time
from dataclasses import dataclass, field

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
import keras
from keras import layers


@dataclass
class Stage:
    name: str
    parts: tuple
    epochs: int
    lr: float


@dataclass
class Config:
    n: int = 1088
    height: int = 64
    width: int = 24
    workshops: int = 7
    periods: int = 4
    batch: int = 64
    clip: float = 2.0
    seed: int = 17
    stages: list = field(
        default_factory=lambda: [
            Stage("joint", ("trunk", "heads"), 2, 2e-3),
            Stage("heads", ("heads",), 16, 1e-3),
        ]
    )


# ------------------------------------------------------------ data
class SectionArchive:
    """Draws vertical stacks of layers with workshop-specific thickness and glow."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.rng = np.random.default_rng(cfg.seed)
        self.thick = self.rng.uniform(3, 9, (cfg.workshops,))
        self.glow = self.rng.uniform(0.2, 0.9, (cfg.workshops, cfg.periods, 3))

    def one(self, shop, period, count):
        c = self.cfg
        img = np.full((c.height, c.width, 3), 0.08, "float32")
        y = 4
        for k in range(count):
            t = max(2, int(self.rng.normal(self.thick[shop], 1.0)))
            shade = self.glow[shop, period] * (0.7 + 0.3 * (k % 2))
            img[y : y + t] = shade
            y += t + 1
            if y >= c.height:
                break
        return img + self.rng.normal(0, 0.04, img.shape)

    def build(self):
        c = self.cfg
        shop = self.rng.integers(0, c.workshops, c.n)
        period = self.rng.integers(0, c.periods, c.n)
        count = self.rng.integers(3, 12, c.n)
        photos = np.stack([self.one(*t) for t in zip(shop, period, count)]).astype("float32")
        labels = {
            "shop": shop.astype("int32"),
            "period": period.astype("int32"),
            "layers": count.astype("float32"),
        }
        return photos, labels


def datasets(cfg, photos, labels):
    cut = int(0.85 * cfg.n)
    part = lambda s: (photos[s], {k: v[s] for k, v in labels.items()})
    train = tf.data.Dataset.from_tensor_slices(part(slice(0, cut))).cache()
    train = train.shuffle(cut, seed=cfg.seed).batch(cfg.batch, drop_remainder=True).prefetch(2)
    val = tf.data.Dataset.from_tensor_slices(part(slice(cut, None))).batch(96).cache().prefetch(1)
    return train, val


# ------------------------------------------------------------ model
def conv_trunk(cfg, base=20):
    inp = keras.Input((cfg.height, cfg.width, 3))
    x = inp
    for i, mult in enumerate((1, 2, 3)):
        y = layers.Conv2D(base * mult, 3, padding="same", activation="relu")(x)
        y = layers.Conv2D(base * mult, 3, padding="same")(y)
        s = layers.Conv2D(base * mult, 1)(x)
        x = layers.Activation("relu")(layers.Add()([y, s]))
        x = layers.AveragePooling2D((2, 2))(x)
    x = layers.GlobalAveragePooling2D()(x)
    return keras.Model(inp, x, name="trunk")


def head_block(cfg, n_in):
    z = keras.Input((n_in,))
    outs = {}
    for name, size in (("shop", cfg.workshops), ("period", cfg.periods), ("layers", 1)):
        h = layers.Dense(64, activation="relu")(z)
        outs[name] = layers.Dense(size)(h)
    return keras.Model(z, outs, name="heads")


class LacquerReader(keras.Model):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.trunk = conv_trunk(cfg)
        self.heads = head_block(cfg, self.trunk.output_shape[-1])
        self.active = ("trunk", "heads")
        self.total = keras.metrics.Mean(name="loss")
        self.norm = keras.metrics.Mean(name="gnorm")
        self.shop_acc = keras.metrics.SparseCategoricalAccuracy(name="shop_acc")
        self.layer_mae = keras.metrics.Mean(name="layer_mae")

    @property
    def metrics(self):
        return [self.total, self.norm, self.shop_acc, self.layer_mae]

    def call(self, x, training=False):
        return self.heads(self.trunk(x, training=training), training=training)

    def joint_loss(self, out, y):
        ce = tf.nn.sparse_softmax_cross_entropy_with_logits
        count = tf.squeeze(out["layers"], -1)
        return (
            tf.reduce_mean(ce(y["shop"], out["shop"]))
            + tf.reduce_mean(ce(y["period"], out["period"]))
            + 0.2 * tf.reduce_mean(tf.abs(count - y["layers"]))
        )

    def active_variables(self):
        return [v for part in self.active for v in getattr(self, part).trainable_variables]

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            out = self(x, training=True)
            loss = self.joint_loss(out, y)
        variables = self.trainable_variables
        grads = tape.gradient(loss, variables)
        grads, norm = tf.clip_by_global_norm(grads, self.cfg.clip)
        mine = {v.path for v in self.active_variables()}
        pairs = [(g, v) for g, v in zip(grads, variables) if v.path in mine]
        self.optimizer.apply_gradients(pairs)
        return self._track(out, y, loss, norm)

    def test_step(self, data):
        x, y = data
        out = self(x, training=False)
        return self._track(out, y, self.joint_loss(out, y), 0.0)

    def _track(self, out, y, loss, norm):
        self.total.update_state(loss)
        self.norm.update_state(norm)
        self.shop_acc.update_state(y["shop"], out["shop"])
        self.layer_mae.update_state(tf.abs(tf.squeeze(out["layers"], -1) - y["layers"]))
        return {m.name: m.result() for m in self.metrics}


# ------------------------------------------------------------ running
class StageLog(keras.callbacks.Callback):
    def __init__(self, stage, every):
        super().__init__()
        self.stage, self.every = stage, every

    def on_epoch_begin(self, epoch, logs=None):
        self.t0 = time.time()

    def on_epoch_end(self, epoch, logs=None):
        if epoch % self.every == 0:
            line = "  ".join(f"{k} {v:.3f}" for k, v in logs.items() if k != "val_gnorm")
            print(f"{self.stage:6s} {epoch:2d}  {line}  {time.time() - self.t0:.2f}s", flush=True)


def run_stage(model, stage, train, val, folder):
    model.active = stage.parts
    model.compile(optimizer=keras.optimizers.Adam(stage.lr))
    return model.fit(
        train,
        validation_data=val,
        validation_freq=2,
        epochs=stage.epochs,
        verbose=0,
        callbacks=[
            StageLog(stage.name, 2),
            keras.callbacks.CSVLogger(os.path.join(folder, stage.name + ".csv")),
        ],
    )


def main():
    cfg = Config()
    keras.utils.set_random_seed(cfg.seed)
    folder = tempfile.mkdtemp(prefix="urushi_")
    photos, labels = SectionArchive(cfg).build()
    train, val = datasets(cfg, photos, labels)
    model = LacquerReader(cfg)
    model(photos[:2])
    for stage in cfg.stages:
        hist = run_stage(model, stage, train, val, folder)
        print(f"stage {stage.name}: final loss {hist.history['loss'][-1]:.3f}")
    model.save_weights(os.path.join(folder, "reader.weights.h5"))


if __name__ == "__main__":
    main()
