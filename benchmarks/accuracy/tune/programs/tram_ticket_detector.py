"""Anchor-free detector for punched holes on scanned tram tickets (FCOS-like, tiny).

Uses model.fit with an own train_step/test_step, warm-up schedule, early stopping and
a lambda callback that prints a compact line per epoch.
"""

import argparse
from dataclasses import dataclass

import numpy as np
import tensorflow as tf
from tensorflow import keras


@dataclass
class DetConfig:
    side: int = 96
    stride: int = 8
    classes: int = 3
    max_holes: int = 6
    train: int = 768
    valid: int = 96
    batch: int = 32
    epochs: int = 10
    lr: float = 2e-3
    warm: int = 16


def draw_ticket(cfg, rng):
    img = rng.normal(0.75, 0.05, (cfg.side, cfg.side)).astype(np.float32)
    img[::12, :] -= 0.1
    cell = cfg.side // cfg.stride
    heat = np.zeros((cell, cell, cfg.classes), np.float32)
    size = np.zeros((cell, cell, 2), np.float32)
    yy, xx = np.mgrid[0 : cfg.side, 0 : cfg.side]
    for _ in range(rng.integers(1, cfg.max_holes + 1)):
        c = int(rng.integers(cfg.classes))
        cy, cx = rng.uniform(10, cfg.side - 10, 2)
        h, w = rng.uniform(3, 8, 2)
        dy, dx = np.abs(yy - cy) / h, np.abs(xx - cx) / w
        inside = [np.hypot(dy, dx) < 1, np.maximum(dy, dx) < 1, dy + dx < 1][c]
        img[inside] = rng.uniform(0.0, 0.2)
        gy, gx = int(cy // cfg.stride), int(cx // cfg.stride)
        heat[gy, gx, c] = 1.0
        size[gy, gx] = h / cfg.stride, w / cfg.stride
    return img[..., None], heat, size


def make_split(cfg, n, rng):
    rows = [draw_ticket(cfg, rng) for _ in range(n)]
    return tuple(np.stack(col) for col in zip(*rows))


def conv_unit(x, width, stride=1):
    x = keras.layers.Conv2D(width, 3, strides=stride, padding="same", use_bias=False)(x)
    x = keras.layers.BatchNormalization(momentum=0.9)(x)
    return keras.layers.ReLU()(x)


def backbone(cfg):
    inp = keras.Input((cfg.side, cfg.side, 1))
    x = conv_unit(inp, 16, 2)
    x = conv_unit(x, 32, 2)
    x = conv_unit(x, 32)
    x = conv_unit(x, 64, 2)
    for _ in range(2):
        x = keras.layers.Add()([x, conv_unit(x, 64)])
    heat = keras.layers.Conv2D(cfg.classes, 1, bias_initializer=keras.initializers.Constant(-4.0))(
        x
    )
    size = keras.layers.Conv2D(2, 1, activation="softplus")(x)
    return keras.Model(inp, [heat, size])


def focal(target, logits, gamma=2.0):
    p = tf.sigmoid(logits)
    ce = tf.nn.sigmoid_cross_entropy_with_logits(target, logits)
    weight = tf.where(target > 0.5, (1 - p) ** gamma, 0.25 * p**gamma)
    return tf.reduce_sum(weight * ce) / tf.maximum(tf.reduce_sum(target), 1.0)


class CellRecall(keras.metrics.Metric):
    def __init__(self, name="recall"):
        super().__init__(name=name)
        self.hit = self.add_weight(name="hit", initializer="zeros")
        self.total = self.add_weight(name="total", initializer="zeros")

    def update_state(self, target, logits, sample_weight=None):
        found = tf.cast(logits > 0, tf.float32) * target
        self.hit.assign_add(tf.reduce_sum(found))
        self.total.assign_add(tf.reduce_sum(target))

    def result(self):
        return self.hit / (self.total + 1e-6)


class Detector(keras.Model):
    def __init__(self, cfg):
        super().__init__()
        self.net = backbone(cfg)
        self.loss_track = keras.metrics.Mean(name="loss")
        self.recall = CellRecall()

    @property
    def metrics(self):
        return [self.loss_track, self.recall]

    def call(self, x, training=False):
        return self.net(x, training=training)

    def losses_of(self, heat, size, out):
        mask = tf.reduce_max(heat, -1, keepdims=True)
        box = tf.reduce_sum(mask * tf.abs(size - out[1])) / tf.maximum(tf.reduce_sum(mask), 1.0)
        return focal(heat, out[0]) + 0.5 * box

    def train_step(self, data):
        img, heat, size = data
        with tf.GradientTape() as tape:
            out = self(img, training=True)
            loss = self.losses_of(heat, size, out)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.loss_track.update_state(loss)
        self.recall.update_state(heat, out[0])
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, data):
        img, heat, size = data
        out = self(img, training=False)
        self.loss_track.update_state(self.losses_of(heat, size, out))
        self.recall.update_state(heat, out[0])
        return {m.name: m.result() for m in self.metrics}


class WarmCosine(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, peak, warm, total):
        self.peak, self.warm, self.total = peak, warm, total

    def __call__(self, step):
        s = tf.cast(step, tf.float32)
        cos = 0.5 * (1 + tf.cos(np.pi * tf.minimum(s / self.total, 1.0)))
        return self.peak * tf.minimum(1.0, (s + 1) / self.warm) * cos


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=DetConfig.epochs)
    cfg = DetConfig(epochs=ap.parse_args().epochs)
    keras.utils.set_random_seed(63)
    rng = np.random.default_rng(63)
    train, valid = make_split(cfg, cfg.train, rng), make_split(cfg, cfg.valid, rng)

    ds = (
        tf.data.Dataset.from_tensor_slices(train)
        .shuffle(cfg.train, seed=6)
        .batch(cfg.batch, drop_remainder=True)
        .prefetch(2)
    )
    vs = tf.data.Dataset.from_tensor_slices(valid).batch(cfg.batch).cache().prefetch(1)

    with tf.distribute.OneDeviceStrategy("/cpu:0").scope():
        det = Detector(cfg)
        total = cfg.epochs * (cfg.train // cfg.batch)
        det.compile(
            optimizer=keras.optimizers.AdamW(WarmCosine(cfg.lr, cfg.warm, total), weight_decay=1e-4)
        )
    line = keras.callbacks.LambdaCallback(
        on_epoch_end=lambda e, logs: print(
            f"{e:2d} " + " ".join(f"{k}={v:.3f}" for k, v in logs.items())
        )
    )
    stop = keras.callbacks.EarlyStopping("val_loss", patience=4, restore_best_weights=False)
    det.fit(ds, validation_data=vs, epochs=cfg.epochs, callbacks=[line, stop], verbose=0)


if __name__ == "__main__":
    main()
