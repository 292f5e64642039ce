"""Attribute mosaic fragments to workshops with a prepared feature network."""

import numpy as np
import tensorflow as tf
import keras
from keras import layers

SIDE = 48
WORKSHOPS = 8
FRAGMENTS = 2048
BATCH = 32
EPOCHS = 6


def fragments(count, seed):
    rng = np.random.default_rng(seed)
    who = rng.integers(0, WORKSHOPS, count)
    yy, xx = np.mgrid[0:SIDE, 0:SIDE].astype(np.float32) / SIDE
    images = np.empty((count, SIDE, SIDE, 3), np.float32)
    for i, w in enumerate(who):
        angle = np.pi * w / WORKSHOPS + rng.normal(0, 0.08)
        wave = np.sin(40 * (np.cos(angle) * xx + np.sin(angle) * yy) + rng.uniform(0, 6))
        tint = rng.uniform(0.3, 1.0, 3)
        images[i] = wave[..., None] * tint + rng.normal(0, 0.5, (SIDE, SIDE, 3))
    return images, who.astype(np.int32)


def oriented_filters(shape, rng):
    """Gabor-like kernels that stand in for weights from an earlier project."""
    kh, kw, cin, cout = shape
    y, x = np.mgrid[-1 : 1 : kh * 1j, -1 : 1 : kw * 1j]
    out = rng.normal(0, 0.02, shape)
    for o in range(cout):
        a = np.pi * o / cout
        g = np.cos(3 * (np.cos(a) * x + np.sin(a) * y)) * np.exp(-(x * x + y * y))
        out[..., o] += g[..., None] * rng.normal(0, 1.0 / np.sqrt(kh * kw * cin), cin)
    return out.astype(np.float32)


def make_backbone(seed=2):
    backbone = keras.Sequential(name="backbone")
    backbone.add(keras.Input((SIDE, SIDE, 3)))
    for width, stride in ((32, 1), (48, 2), (64, 1), (96, 2)):
        backbone.add(layers.Conv2D(width, 3, strides=stride, padding="same", activation="relu"))
    rng = np.random.default_rng(seed)
    for layer in backbone.layers:
        kernel, bias = layer.get_weights()
        layer.set_weights([oriented_filters(kernel.shape, rng), bias])
    return backbone


class Attribution(keras.Model):
    """Backbone features followed by a small head that learns the workshops."""

    def __init__(self, backbone, clip=1.0):
        super().__init__()
        self.backbone = backbone
        self.clip = clip
        self.head = keras.Sequential(
            [
                layers.GlobalAveragePooling2D(),
                layers.LayerNormalization(),
                layers.Dense(128, activation="gelu"),
                layers.Dropout(0.1),
                layers.Dense(WORKSHOPS),
            ],
            name="head",
        )
        self.mean_loss = keras.metrics.Mean(name="loss")
        self.right = keras.metrics.SparseCategoricalAccuracy(name="right")

    @property
    def metrics(self):
        return [self.mean_loss, self.right]

    def call(self, images, training=False):
        return self.head(self.backbone(images, training=False), training=training)

    def train_step(self, data):
        images, who = data
        with tf.GradientTape() as tape:
            logits = self(images, training=True)
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=who, logits=logits)
            )
        variables = self.trainable_variables
        grads, _ = tf.clip_by_global_norm(tape.gradient(loss, variables), self.clip)
        learned = {id(v) for v in self.head.trainable_variables}
        self.optimizer.apply([g for g, v in zip(grads, variables) if id(v) in learned])
        self.mean_loss.update_state(loss)
        self.right.update_state(who, logits)
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, data):
        images, who = data
        logits = self(images, training=False)
        self.mean_loss.update_state(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=who, logits=logits)
        )
        self.right.update_state(who, logits)
        return {m.name: m.result() for m in self.metrics}


def main():
    keras.utils.set_random_seed(9)
    images, who = fragments(FRAGMENTS + 256, seed=3)
    model = Attribution(make_backbone())
    model(images[:1])
    optimizer = keras.optimizers.AdamW(2e-3)
    optimizer.build(model.head.trainable_variables)
    model.compile(optimizer=optimizer)
    train = (
        tf.data.Dataset.from_tensor_slices((images[:FRAGMENTS], who[:FRAGMENTS]))
        .shuffle(FRAGMENTS)
        .batch(BATCH, drop_remainder=True)
        .prefetch(2)
    )
    model.fit(train, epochs=EPOCHS, verbose=2)
    print(model.evaluate(images[FRAGMENTS:], who[FRAGMENTS:], verbose=0, return_dict=True))


if __name__ == "__main__":
    main()
