"""Fine-tunes a leaf-disease classifier: frozen feature net, new head.

Stage A  "pre-trains" the feature net on plain leaf textures (a few quick steps).
Stage B  trains a new head on diseased leaves, with a consistency term on
         unlabelled photographs of the same crop.
"""

from dataclasses import dataclass

import numpy as np
import tensorflow as tf
from tensorflow.keras import Model, Sequential, layers, optimizers


@dataclass
class Config:
    side: int = 48
    classes: int = 5
    batch: int = 24
    pretrain_steps: int = 40
    epochs: int = 3
    head_lr: float = 2e-3
    clip: float = 1.0
    consistency: float = 0.3
    seed: int = 9


class LeafSource:
    """Green leaves with spots; number and colour of the spots give the class."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.rng = np.random.default_rng(cfg.seed)

    def photos(self, n):
        side, rng = self.cfg.side, self.rng
        grid = np.linspace(-1, 1, side, dtype=np.float32)
        yy, xx = np.meshgrid(grid, grid, indexing="ij")
        labels = rng.integers(0, self.cfg.classes, n)
        images = np.empty((n, side, side, 3), np.float32)
        for i, c in enumerate(labels):
            leaf = (xx**2 / 0.5 + yy**2 < 0.9).astype(np.float32)
            img = np.stack([0.2 * leaf, 0.55 * leaf, 0.15 * leaf], -1)
            for _ in range(2 * c):
                cx, cy = rng.uniform(-0.5, 0.5, 2)
                spot = np.exp(-((xx - cx) ** 2 + (yy - cy) ** 2) / 0.01)[..., None]
                tint = np.array([0.5 + 0.1 * c, 0.35, 0.1], np.float32)
                img = img * (1 - spot) + spot * tint
            images[i] = img + rng.normal(0, 0.03, img.shape)
        return np.clip(images, 0, 1), labels.astype(np.int32)


def jitter(image):
    image = tf.image.random_flip_left_right(image)
    image = tf.image.random_brightness(image, 0.1)
    return tf.image.random_contrast(image, 0.8, 1.2)


def feature_net(cfg):
    return Sequential(
        [
            layers.Input((cfg.side, cfg.side, 3)),
            layers.Conv2D(32, 3, padding="same", activation="relu"),
            layers.Conv2D(48, 3, strides=2, padding="same", activation="relu"),
            layers.Conv2D(64, 3, strides=2, padding="same", activation="relu"),
            layers.GlobalAveragePooling2D(),
        ],
        name="features",
    )


class FineTuner:
    def __init__(self, cfg, features):
        self.cfg = cfg
        inp = layers.Input((cfg.side, cfg.side, 3))
        self.features = features
        self.head = Sequential(
            [layers.Input((64,)), layers.Dense(64, activation="relu"), layers.Dense(cfg.classes)],
            name="head",
        )
        self.model = Model(inp, self.head(features(inp)))
        self.optimizer = optimizers.Adam(cfg.head_lr)
        self.optimizer.build(self.head.trainable_variables)
        self.head_refs = {id(v) for v in self.head.trainable_variables}

    def attach(self, labelled, unlabelled):
        x, y = labelled
        self.labelled = (
            tf.data.Dataset.from_tensor_slices((x, y))
            .shuffle(len(x))
            .batch(self.cfg.batch, drop_remainder=True)
            .prefetch(2)
        )
        self.unlabelled = (
            tf.data.Dataset.from_tensor_slices(unlabelled)
            .map(lambda im: (im, jitter(im)), num_parallel_calls=2)
            .shuffle(128)
            .batch(self.cfg.batch, drop_remainder=True)
        )

    @tf.function
    def step(self, x, y, plain, varied):
        weights = self.model.trainable_variables
        with tf.GradientTape() as tape:
            logits = self.model(x, training=True)
            ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
            target = tf.stop_gradient(tf.nn.softmax(self.model(plain, training=False)))
            guess = tf.nn.softmax(self.model(varied, training=True))
            agree = tf.reduce_mean(tf.reduce_sum(tf.square(target - guess), axis=1))
            loss = tf.reduce_mean(ce) + self.cfg.consistency * agree
        grads, norm = tf.clip_by_global_norm(tape.gradient(loss, weights), self.cfg.clip)
        self.optimizer.apply_gradients(
            [(g, v) for g, v in zip(grads, weights) if id(v) in self.head_refs]
        )
        return loss, norm

    def run(self, held):
        total = 0
        for epoch in range(self.cfg.epochs):
            losses = []
            for x, y in self.labelled:
                plain, varied = next(iter(self.unlabelled))
                loss, norm = self.step(x, y, plain, varied)
                losses.append(loss)
                total += 1
            mean = float(tf.reduce_mean(tf.stack(losses)))
            print(
                f"epoch {epoch}: steps {total}, loss {mean:.4f}, held-out {self.accuracy(*held):.3f}"
            )

    def accuracy(self, x, y):
        logits = self.model.predict(x, batch_size=128, verbose=0)
        return float((logits.argmax(1) == y).mean())


def pretrain(cfg, features, source):
    x, y = source.photos(cfg.batch * cfg.pretrain_steps)
    net = Sequential([features, layers.Dense(1)])
    net.compile(optimizers.Adam(1e-3), "mse")
    net.fit(x, (y > 1).astype("float32"), batch_size=cfg.batch, epochs=1, verbose=0)


def main():
    cfg = Config()
    tf.keras.utils.set_random_seed(cfg.seed)
    source = LeafSource(cfg)
    features = feature_net(cfg)
    pretrain(cfg, features, source)

    tuner = FineTuner(cfg, features)
    tuner.attach(source.photos(3000), source.photos(2000)[0])
    tuner.run(held=source.photos(600))
    tuner.model.save("leaf_finetune.keras")


if __name__ == "__main__":
    main()
