"""Occupied or empty?  Probe on a burrow-camera backbone, then the head alone
is fitted to a new island (few labels, other light)."""

import argparse
import time

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


class BurrowNet(tf.keras.Model):
    def __init__(self, classes):
        super().__init__()
        self.backbone = tf.keras.Sequential(
            [
                layers.Conv2D(24, 5, strides=2, padding="same", activation="relu"),
                layers.Conv2D(48, 3, padding="same", activation="relu"),
                layers.MaxPooling2D(),
                layers.Conv2D(64, 3, padding="same", activation="relu"),
                layers.Conv2D(64, 3, padding="same", activation="relu"),
                layers.GlobalAveragePooling2D(),
            ],
            name="backbone",
        )
        self.head = tf.keras.Sequential(
            [
                layers.Dense(64, activation="relu"),
                layers.Dropout(0.2),
                layers.Dense(classes),
            ],
            name="head",
        )

    def call(self, x, training=False):
        return self.head(self.backbone(x), training=training)


def photos(n, size, rng, gain=1.0):
    base = rng.normal(0.4, 0.1, (n, size, size, 1)).astype("float32")
    y = rng.integers(0, 3, n)
    yy, xx = np.mgrid[:size, :size] / size
    hole = np.exp(-((yy - 0.6) ** 2 + (xx - 0.5) ** 2) * 20)
    stripe = np.sin(40 * xx) * hole
    shapes = np.stack([0 * hole, hole, stripe]).astype("float32")
    return gain * (base + 0.9 * shapes[y][..., None]), y.astype("int32")


class Adapter:
    def __init__(self, model, lr, clip=1.0):
        self.model = model
        self.clip = clip
        self.opt = tf.keras.optimizers.AdamW(lr, weight_decay=1e-4)
        self.opt.build(model.head.trainable_variables)
        self.xent = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.norm = tf.keras.metrics.Mean()

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            logits = self.model(x, training=True)
            loss = self.xent(y, logits)
        variables = self.model.trainable_variables
        grads, norm = tf.clip_by_global_norm(tape.gradient(loss, variables), self.clip)
        self.norm.update_state(norm)
        own = {v.path for v in self.model.head.trainable_variables}
        pairs = [(g, v) for g, v in zip(grads, variables) if v.path in own]
        self.opt.apply_gradients(pairs)
        return loss


def accuracy(model, x, y):
    hit = 0
    for i in range(0, len(x), 64):
        hit += int(np.sum(np.argmax(model(x[i : i + 64]).numpy(), 1) == y[i : i + 64]))
    return hit / len(x)


def pretrain(model, x, y):
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(x, y, batch_size=32, epochs=3, verbose=2)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--size", type=int, default=96)
    ap.add_argument("--epochs", type=int, default=10)
    ap.add_argument("--batch", type=int, default=64)
    ap.add_argument("--seed", type=int, default=31)
    args = ap.parse_args()
    tf.keras.utils.set_random_seed(args.seed)
    rng = np.random.default_rng(args.seed)

    model = BurrowNet(3)
    x0, y0 = photos(192, args.size, rng)
    began = time.time()
    pretrain(model, x0, y0)

    x, y = photos(512, args.size, rng, gain=0.6)
    xv, yv = photos(96, args.size, rng, gain=0.6)

    def augment(img, label):
        img = tf.image.random_flip_left_right(img)
        return img + tf.random.normal(tf.shape(img), stddev=0.03), label

    ds = (
        tf.data.Dataset.from_tensor_slices((x, y))
        .shuffle(512, seed=args.seed)
        .batch(args.batch, drop_remainder=True)
        .map(augment)
        .prefetch(1)
    )
    adapter = Adapter(model, 2e-3)
    for epoch in range(args.epochs):
        losses = [adapter.step(xb, yb) for xb, yb in ds]
        print(
            f"island epoch {epoch}: loss {np.mean([float(l) for l in losses]):.3f} "
            f"grad norm {float(adapter.norm.result()):.2f}"
        )
        adapter.norm.reset_state()
    print(f"accuracy on the new island {accuracy(model, xv, yv):.3f}")
    print(f"train_seconds {time.time() - began:.2f}")


if __name__ == "__main__":
    main()
