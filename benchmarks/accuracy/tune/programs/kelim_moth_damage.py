"""Segment moth damage on photographs of kelims; the encoder comes from an earlier motif task."""

from dataclasses import dataclass

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


@dataclass(frozen=True)
class Setup:
    size: int = 64
    rugs: int = 160
    batch: int = 16
    motif_epochs: int = 5
    epochs: int = 16
    lr: float = 2e-3
    sag: float = 3.0
    seed: int = 77


def weave(rng, n, size):
    rows, cols = np.mgrid[:size, :size]
    x = np.empty((n, size, size, 3), "float32")
    mask = np.zeros((n, size, size, 1), "float32")
    motif = rng.integers(0, 4, n)
    for i in range(n):
        period = 8 + 4 * int(motif[i])
        base = (
            np.abs(rows % period - period // 2) + np.abs(cols % period - period // 2)
        ) < period // 3
        x[i] = np.where(base[..., None], rng.random(3), rng.random(3))
        for _ in range(rng.integers(1, 5)):
            r, c = rng.integers(6, size - 6, 2)
            hole = (rows - r) ** 2 + 1.6 * (cols - c) ** 2 < rng.integers(20, 120)
            mask[i, hole] = 1.0
        x[i] = np.where(mask[i] > 0, 0.45 + 0.1 * rng.random((size, size, 1)), x[i])
    return (x + 0.06 * rng.normal(size=x.shape)).astype("float32"), mask, motif


class RugPhotos(keras.utils.PyDataset):
    """Photographs hung on a line: the cloth sags, more so the later we are in training."""

    def __init__(self, x, mask, cfg):
        super().__init__()
        self.x, self.mask, self.cfg = x, mask, cfg
        self.rng = np.random.default_rng(cfg.seed + 1)
        self.order = np.arange(len(x))
        self.epoch = 0

    def __len__(self):
        return len(self.x) // self.cfg.batch

    def hang(self, image, mask, passes):
        image, mask = image.copy(), mask.copy()
        size = self.cfg.size
        for _ in range(passes):
            depth = self.rng.uniform(0, self.cfg.sag, size=size).round().astype(int)
            for c in range(size):
                image[:, c] = np.roll(image[:, c], depth[c], axis=0)
                mask[:, c] = np.roll(mask[:, c], depth[c], axis=0)
        return image, mask

    def __getitem__(self, i):
        pick = self.order[i * self.cfg.batch : (i + 1) * self.cfg.batch]
        pairs = [self.hang(self.x[j], self.mask[j], 1 + self.epoch // 3) for j in pick]
        return np.stack([p[0] for p in pairs]), np.stack([p[1] for p in pairs])

    def on_epoch_end(self):
        self.epoch += 1
        self.rng.shuffle(self.order)


def make_encoder(size):
    inp = keras.Input((size, size, 3))
    h = layers.Conv2D(24, 3, padding="same", activation="relu")(inp)
    h = layers.Conv2D(32, 3, padding="same", activation="relu")(h)
    h = layers.Conv2D(48, 3, strides=2, padding="same", activation="relu")(h)
    h = layers.Conv2D(48, 3, padding="same", activation="relu")(h)
    h = layers.Conv2D(64, 3, strides=2, padding="same", activation="relu")(h)
    return keras.Model(inp, h, name="encoder")


def damage_loss(mask, logits):
    bce = tf.nn.weighted_cross_entropy_with_logits(mask, logits, 4.0)
    p = tf.sigmoid(logits)
    overlap = 2 * tf.reduce_sum(mask * p) / (tf.reduce_sum(mask) + tf.reduce_sum(p) + 1.0)
    return tf.reduce_mean(bce) + 1.0 - overlap


class DamageNet(keras.Model):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder
        self.head = keras.Sequential(
            [
                layers.Conv2D(24, 3, padding="same", activation="relu"),
                layers.UpSampling2D(2),
                layers.Conv2D(8, 3, padding="same", activation="relu"),
                layers.UpSampling2D(2),
                layers.Conv2D(1, 1),
            ]
        )

    def call(self, x, training=False):
        return self.head(self.encoder(x, training=False), training=training)

    def train_step(self, data):
        x, mask = data
        with tf.GradientTape() as tape:
            logits = self(x, training=True)
            loss = self.compute_loss(x=x, y=mask, y_pred=logits)
        grads = tape.gradient(loss, self.trainable_variables)
        grads, norm = tf.clip_by_global_norm(grads, 2.0)
        head = {v.path for v in self.head.trainable_variables}
        pairs = [(g, v) for g, v in zip(grads, self.trainable_variables) if v.path in head]
        self.optimizer.apply_gradients(pairs)
        self.metrics[0].update_state(loss)
        return {"loss": self.metrics[0].result(), "grad_norm": norm}


def main():
    cfg = Setup()
    keras.utils.set_random_seed(cfg.seed)
    x, mask, motif = weave(np.random.default_rng(cfg.seed), cfg.rugs, cfg.size)
    encoder = make_encoder(cfg.size)
    motifs = keras.Sequential([encoder, layers.GlobalAveragePooling2D(), layers.Dense(4)])
    motifs.compile(
        "adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"]
    )
    motifs.fit(x, motif, batch_size=cfg.batch, epochs=cfg.motif_epochs, verbose=2)

    net = DamageNet(encoder)
    net.build((None, cfg.size, cfg.size, 3))
    net.compile(keras.optimizers.Adam(cfg.lr), damage_loss)
    net.fit(RugPhotos(x, mask, cfg), epochs=cfg.epochs, verbose=2)
    guess = net.predict(x[:32], verbose=0) > 0
    both = np.logical_and(guess, mask[:32] > 0).sum() / np.logical_or(guess, mask[:32] > 0).sum()
    print("IoU of the first rugs:", round(float(both), 3))


if __name__ == "__main__":
    main()
