"""Adapt a leaf-disease network to a new plantation with per-block learning-rate factors."""

import argparse
import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

IMG = 48
BLOCKS = ("stem", "block1", "block2", "block3", "head")


def leaf_images(n, n_classes, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    grid = np.linspace(-1, 1, IMG)
    xx, yy = np.meshgrid(grid, grid)
    x = np.zeros((n, IMG, IMG, 3), np.float32)
    for i in range(n):
        leaf = (xx**2 + (1.6 * yy) ** 2 < 0.9).astype(np.float32)
        x[i, ..., 1] = 0.6 * leaf
        for _ in range(2 + 2 * int(y[i])):
            cx, cy, r = rng.uniform(-0.6, 0.6), rng.uniform(-0.4, 0.4), rng.uniform(0.05, 0.14)
            x[i, ..., 0] += 0.7 * ((xx - cx) ** 2 + (yy - cy) ** 2 < r * r) * leaf
    return x + rng.normal(0, 0.05, x.shape).astype(np.float32), y.astype(np.int32)


class LeafNet(keras.Model):
    def __init__(self, n_classes):
        super().__init__()
        self.stem = layers.Conv2D(24, 3, padding="same", activation="relu", name="stem")
        self.block1 = self.block(32, "block1")
        self.block2 = self.block(48, "block2")
        self.block3 = self.block(64, "block3")
        self.pool = layers.GlobalAveragePooling2D()
        self.head = layers.Dense(n_classes, name="head")

    @staticmethod
    def block(width, name):
        return keras.Sequential(
            [
                layers.Conv2D(width, 3, padding="same", activation="relu"),
                layers.Conv2D(width, 3, padding="same", activation="relu"),
                layers.MaxPooling2D(),
            ],
            name=name,
        )

    def call(self, x):
        x = self.stem(x)
        x = self.block3(self.block2(self.block1(x)))
        return self.head(self.pool(x))


class Finetuner:
    def __init__(self, net, lr, factors):
        self.net = net
        self.opt = keras.optimizers.SGD(lr, momentum=0.9, nesterov=True)
        self.factors = {b: tf.Variable(factors.get(b, 0.0), trainable=False) for b in BLOCKS}
        self.owner = []
        self.weights = []
        for b in BLOCKS:
            for v in getattr(net, b).trainable_variables:
                self.owner.append(b)
                self.weights.append(v)
        self.opt.build(self.weights)

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            logits = self.net(x)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
        grads = tape.gradient(loss, self.weights)
        grads = [g * self.factors[b] for g, b in zip(grads, self.owner)]
        self.opt.apply_gradients(zip(grads, self.weights))
        return loss

    @tf.function
    def predict(self, x):
        return tf.argmax(self.net(x), -1)


def accuracy(tuner, x, y, size=64):
    hits = [
        tuner.predict(x[i : i + size]).numpy() == y[i : i + size] for i in range(0, len(x), size)
    ]
    return float(np.mean(np.concatenate(hits)))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=225)
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--lr", type=float, default=0.1)
    p.add_argument("--eval-every", type=int, default=75)
    args = p.parse_args()

    tf.random.set_seed(8)
    x, y = leaf_images(704, 4, seed=8)
    net = LeafNet(4)
    net(x[:1])
    tuner = Finetuner(net, args.lr, factors={"block3": 0.5, "head": 1.0})
    ds = tf.data.Dataset.from_tensor_slices((x[:576], y[:576]))
    ds = ds.shuffle(576, seed=0).repeat().batch(args.batch).prefetch(2)
    out = tempfile.mkdtemp(prefix="leaves_")
    for i, (bx, by) in enumerate(ds.take(args.steps), start=1):
        loss = tuner.step(bx, by)
        if i % 25 == 0:
            print(f"step {i} loss {float(loss):.4f}")
        if i % args.eval_every == 0:
            print("   val acc", accuracy(tuner, x[576:], y[576:]))
    net.save_weights(os.path.join(out, "leafnet.weights.h5"))


if __name__ == "__main__":
    main()
