"""Distil a wide keyword spotter into a pocket-size one (synthetic log-mel patches)."""

import argparse
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras

FRAMES, MELS = 28, 20


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--classes", type=int, default=10)
    p.add_argument("--clips", type=int, default=4096)
    p.add_argument("--batch", type=int, default=128)
    p.add_argument("--epochs", type=int, default=22)
    p.add_argument("--warmup-epochs", type=int, default=10)
    p.add_argument("--start-temperature", type=float, default=6.0)
    p.add_argument("--seed", type=int, default=3)
    return p.parse_args()


def make_corpus(n, classes, rng, templates):
    labels = rng.integers(0, classes, n)
    clips = templates[labels] + 1.3 * rng.normal(size=(n, FRAMES, MELS))
    shifts = rng.integers(-3, 4, n)
    rows = (np.arange(FRAMES)[None, :] - shifts[:, None]) % FRAMES
    clips = clips[np.arange(n)[:, None], rows]
    return clips[..., None].astype("float32"), labels.astype("int32")


def build_teacher(classes):
    inp = keras.Input((FRAMES, MELS, 1))
    h = keras.layers.Conv2D(16, 3, strides=2, activation="relu", padding="same")(inp)
    h = keras.layers.Conv2D(32, 3, strides=2, activation="relu", padding="same")(h)
    h = keras.layers.Flatten()(h)
    h = keras.layers.Dense(128, activation="relu")(h)
    return keras.Model(inp, keras.layers.Dense(classes)(h), name="teacher")


def build_student(classes):
    inp = keras.Input((FRAMES, MELS, 1))
    h = inp
    for width in (8, 12, 16):
        h = keras.layers.SeparableConv2D(width, 3, strides=2, padding="same")(h)
        h = keras.layers.BatchNormalization()(h)
        h = keras.layers.Activation("relu")(h)
    h = keras.layers.Flatten()(h)
    h = keras.layers.Dense(24, activation="relu")(h)
    return keras.Model(inp, keras.layers.Dense(classes)(h), name="student")


class Distiller:
    def __init__(self, teacher, student, lr, start_temperature, warmup_epochs):
        self.teacher = teacher
        self.student = student
        self.start_temperature = start_temperature
        self.warmup_epochs = warmup_epochs
        self.optimizer = keras.optimizers.Adam(lr)
        self.optimizer.build(student.trainable_variables)

    def mix(self, epoch):
        """Soft targets first; cool down and lean on the labels afterwards."""
        k = max(0, epoch - self.warmup_epochs)
        temperature = 1.0 + (self.start_temperature - 1.0) * 0.93**k
        hard_weight = 1.0 - 0.9 * 0.95**k
        return {"temperature": temperature, "hard_weight": hard_weight}

    @tf.function
    def step(self, clips, labels, mix):
        t = mix["temperature"]
        soft_targets = tf.nn.softmax(self.teacher(clips, training=False) / t)
        with tf.GradientTape() as tape:
            logits = self.student(clips, training=True)
            soft = tf.nn.softmax_cross_entropy_with_logits(soft_targets, logits / t)
            hard = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
            w = mix["hard_weight"]
            loss = tf.reduce_mean(w * hard + (1.0 - w) * soft)
        grads = tape.gradient(loss, self.student.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.student.trainable_variables))
        return loss, tf.reduce_mean(hard)

    @tf.function
    def accuracy(self, clips, labels):
        guess = tf.argmax(self.student(clips, training=False), axis=-1, output_type=tf.int32)
        return tf.reduce_mean(tf.cast(guess == labels, tf.float32))


def main():
    args = parse_args()
    rng = np.random.default_rng(args.seed)
    keras.utils.set_random_seed(args.seed)
    templates = rng.normal(size=(args.classes, FRAMES, MELS))
    x, y = make_corpus(args.clips, args.classes, rng, templates)
    xv, yv = make_corpus(1024, args.classes, rng, templates)

    teacher = build_teacher(args.classes)
    teacher.compile(
        "adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"]
    )
    teacher.fit(x, y, batch_size=args.batch, epochs=3, verbose=2, validation_data=(xv, yv))

    distiller = Distiller(
        teacher, build_student(args.classes), 2e-3, args.start_temperature, args.warmup_epochs
    )
    feed = (
        tf.data.Dataset.from_tensor_slices((x, y))
        .shuffle(args.clips, seed=args.seed)
        .batch(args.batch, drop_remainder=True)
        .prefetch(2)
    )

    xv, yv = tf.constant(xv), tf.constant(yv)
    for epoch in range(args.epochs):
        began = time.perf_counter()
        mix = distiller.mix(epoch)
        losses, hards = [], []
        for clips, labels in feed:
            loss, hard = distiller.step(clips, labels, mix)
            losses.append(loss)
            hards.append(hard)
        print(
            f"epoch {epoch:02d}  T={mix['temperature']:.2f}  loss {np.mean(losses):.4f}  "
            f"label-loss {np.mean(hards):.4f}  val-acc {float(distiller.accuracy(xv, yv)):.3f}  "
            f"{time.perf_counter() - began:.2f}s",
            flush=True,
        )


if __name__ == "__main__":
    main()
