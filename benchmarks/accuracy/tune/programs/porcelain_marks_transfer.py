"""Porcelain maker's marks: backbone trained on kiln stamps, head refitted for a new auction house."""

import argparse
import os
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


def stamps(n, classes, size, seed, noise):
    rng = np.random.default_rng(seed)
    proto = rng.normal(size=(classes, size // 4, size // 4, 1))
    proto = np.kron(proto, np.ones((1, 4, 4, 1)))
    y = rng.integers(0, classes, n)
    roll = rng.integers(-3, 4, size=(n, 2))
    x = np.stack([np.roll(proto[c], tuple(r), (0, 1)) for c, r in zip(y, roll)])
    x = x + noise * rng.normal(size=x.shape)
    return x.astype("float32"), y.astype("int32")


def conv_block(x, filters, stride):
    x = layers.Conv2D(filters, 3, strides=stride, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization()(x)
    return layers.ReLU()(x)


def make_backbone(size):
    inp = keras.Input((size, size, 1))
    x = conv_block(inp, 16, 1)
    x = conv_block(x, 24, 2)
    x = conv_block(x, 32, 1)
    x = conv_block(x, 48, 2)
    x = layers.GlobalAveragePooling2D()(x)
    return keras.Model(inp, x, name="kiln_backbone")


def pretrain(backbone, x, y, classes):
    model = keras.Sequential([backbone, layers.Dense(classes)])
    model.compile(
        keras.optimizers.Adam(3e-3),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.fit(x, y, batch_size=64, epochs=1, verbose=2)


class HeadFitter:
    def __init__(self, backbone, classes, lr, clip):
        self.backbone = backbone
        self.head = keras.Sequential([layers.Dense(64, activation="relu"), layers.Dense(classes)])
        self.head.build((None, backbone.output_shape[-1]))
        self.opt = keras.optimizers.Adam(lr)
        self.opt.build(self.head.trainable_variables)
        self.loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.clip = clip
        self.seen = keras.metrics.Mean()
        self.acc = keras.metrics.SparseCategoricalAccuracy()

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            features = self.backbone(x, training=False)
            logits = self.head(features, training=True)
            loss = self.loss_fn(y, logits)
        variables = self.head.trainable_variables + self.backbone.trainable_variables
        grads = tape.gradient(loss, variables)
        grads, norm = tf.clip_by_global_norm(grads, self.clip)
        n = len(self.head.trainable_variables)
        self.opt.apply_gradients(zip(grads[:n], variables[:n]))
        self.seen.update_state(loss)
        self.acc.update_state(y, logits)
        return norm

    def run(self, ds, epochs):
        for epoch in range(epochs):
            self.seen.reset_state()
            self.acc.reset_state()
            for x, y in ds:
                norm = self.step(x, y)
            print(
                f"[head] epoch {epoch} loss {self.seen.result():.4f} "
                f"acc {self.acc.result():.3f} |g| {norm:.3f}"
            )


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--size", type=int, default=32)
    p.add_argument("--epochs", type=int, default=18)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--clip", type=float, default=5.0)
    args = p.parse_args()
    keras.utils.set_random_seed(23)

    backbone = make_backbone(args.size)
    x, y = stamps(512, 10, args.size, 1, 0.6)
    pretrain(backbone, x, y, 10)

    x, y = stamps(1920, 14, args.size, 2, 0.9)
    x += np.random.default_rng(3).normal(0, 0.1, x.shape).astype("float32")
    jitter = lambda a, b: (a * tf.random.uniform([], 0.8, 1.2), b)
    ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(1920, seed=4)
    ds = ds.batch(64, drop_remainder=True).map(jitter).prefetch(2)
    options = tf.data.Options()
    options.autotune.enabled = False
    ds = ds.with_options(options)
    fitter = HeadFitter(backbone, 14, args.lr, args.clip)
    fitter.run(ds, args.epochs)
    fitter.head.save_weights(os.path.join(tempfile.mkdtemp(), "head.weights.h5"))


if __name__ == "__main__":
    main()
