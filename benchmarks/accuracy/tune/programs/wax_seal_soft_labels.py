"""Recognise the matrix a wax seal was pressed with (photographs under raking light).

Label smoothing is annealed in after the first third, because the net got too sure of
the broken seals.
"""

import argparse
import math
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


def press_seals(n, classes, size, rng):
    yy, xx = np.mgrid[-1 : 1 : size * 1j, -1 : 1 : size * 1j]
    r, a = np.hypot(yy, xx), np.arctan2(yy, xx)
    label = rng.integers(0, classes, n)
    turn = rng.uniform(0, 2 * np.pi, n)
    out = np.empty((n, size, size, 1), "float32")
    for i in range(n):
        k = 2 + label[i]
        relief = np.cos(k * a + turn[i]) * np.exp(-(((r - 0.6) / 0.2) ** 2))
        relief = relief * (rng.uniform(size=(size, size)) > 0.2)
        out[i, :, :, 0] = relief + 0.25 * rng.normal(size=(size, size))
    return out, label.astype("int32")


def block(x, ch, stride):
    y = layers.Conv2D(ch, 3, strides=stride, padding="same", use_bias=False)(x)
    y = layers.BatchNormalization()(y)
    y = layers.Activation("relu")(y)
    y = layers.Conv2D(ch, 3, padding="same", use_bias=False)(y)
    y = layers.BatchNormalization()(y)
    if stride != 1 or x.shape[-1] != ch:
        x = layers.Conv2D(ch, 1, strides=stride, padding="same")(x)
    return layers.Activation("relu")(layers.add([x, y]))


def seal_net(size, classes):
    inp = keras.Input((size, size, 1))
    x = layers.Conv2D(16, 3, strides=2, padding="same", activation="relu")(inp)
    for ch, st in [(16, 1), (32, 2), (32, 1), (64, 2)]:
        x = block(x, ch, st)
    x = layers.GlobalAveragePooling2D()(x)
    return keras.Model(inp, layers.Dense(classes)(x))


class SofteningSchedule:
    """0 until `start`, then a half cosine up to `top`."""

    def __init__(self, start, stop, top):
        self.start, self.stop, self.top = start, stop, top

    def __call__(self, step):
        if step < self.start:
            return 0.0
        frac = min(1.0, (step - self.start) // 16 * 16 / (self.stop - self.start))
        return self.top * 0.5 * (1.0 - math.cos(math.pi * frac))


class SealTrainer:
    def __init__(self, model, classes, lr):
        self.model = model
        self.classes = classes
        self.opt = keras.optimizers.SGD(lr, momentum=0.9, nesterov=True)
        self.right = keras.metrics.SparseCategoricalAccuracy()
        self.mean = keras.metrics.Mean()

    @tf.function
    def learn(self, images, labels, softness):
        hot = tf.one_hot(labels, self.classes)
        hot = hot * (1.0 - softness) + softness / self.classes
        with tf.GradientTape() as tape:
            logits = self.model(images, training=True)
            loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(hot, logits))
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.model.trainable_variables))
        self.right.update_state(labels, logits)
        self.mean.update_state(loss)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--seals", type=int, default=1800)
    ap.add_argument("--size", type=int, default=40)
    ap.add_argument("--classes", type=int, default=9)
    ap.add_argument("--batch", type=int, default=32)
    ap.add_argument("--epochs", type=int, default=5)
    ap.add_argument("--softness", type=float, default=0.12)
    args = ap.parse_args()

    keras.utils.set_random_seed(1381)
    images, labels = press_seals(args.seals, args.classes, args.size, np.random.default_rng(1381))
    per_epoch = args.seals // args.batch
    total = per_epoch * args.epochs
    ds = (
        tf.data.Dataset.from_tensor_slices((images, labels))
        .shuffle(args.seals, seed=5)
        .batch(args.batch, drop_remainder=True)
        .prefetch(2)
    )
    trainer = SealTrainer(seal_net(args.size, args.classes), args.classes, 0.03)
    schedule = SofteningSchedule(total // 3, int(0.95 * total), args.softness)
    step = 0
    began = time.time()
    for epoch in range(args.epochs):
        trainer.right.reset_state()
        trainer.mean.reset_state()
        for x, y in ds:
            trainer.learn(x, y, schedule(step))
            step += 1
        print(
            f"epoch {epoch}: loss {float(trainer.mean.result()):.4f} "
            f"accuracy {float(trainer.right.result()):.3f} softness {schedule(step):.3f}"
        )
    print(f"trained for {time.time() - began:.1f} s")


if __name__ == "__main__":
    main()
