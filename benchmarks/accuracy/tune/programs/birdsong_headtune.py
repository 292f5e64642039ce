"""Tune a classification head on top of a spectrogram backbone.

A small ConvNet turns log-mel patches into an embedding; the backbone keeps its
weights (given by --backbone-weights, or its initial ones if none are at hand)
and a new two-layer head is trained for the species of the local survey.
Recordings are synthesised: each species has its own chirp pattern.
"""

import argparse
import json
import logging
import os
import tempfile
import time

import keras
import numpy as np
import tensorflow as tf
from keras import layers

logger = logging.getLogger("birdsong")

SAMPLE_RATE = 8000
CLIP_SECONDS = 1.0


def synth_clips(num_clips, num_species, rng):
    t = np.arange(int(SAMPLE_RATE * CLIP_SECONDS), dtype=np.float32) / SAMPLE_RATE
    start = np.linspace(600, 3000, num_species)
    sweep = np.linspace(-400, 700, num_species)[rng.permutation(num_species)]
    rate = np.linspace(2, 9, num_species)[rng.permutation(num_species)]
    labels = rng.integers(0, num_species, num_clips)
    clips = np.empty((num_clips, t.size), np.float32)
    for i, k in enumerate(labels):
        f0 = start[k] * rng.uniform(0.96, 1.04)
        phase = 2 * np.pi * (f0 * t + 0.5 * sweep[k] * t**2)
        gate = 0.5 * (1 + np.sign(np.sin(2 * np.pi * rate[k] * t + rng.uniform(0, 6))))
        clips[i] = np.sin(phase) * gate + rng.normal(0, 0.3, t.size)
    return clips, labels.astype(np.int32)


def log_mel(clips, bins=64):
    stft = tf.signal.stft(clips, frame_length=256, frame_step=125, fft_length=256)
    mel = tf.signal.linear_to_mel_weight_matrix(bins, 129, SAMPLE_RATE, 80.0, 3900.0)
    spec = tf.math.log(tf.matmul(tf.abs(stft), mel) + 1e-3)
    return spec[..., tf.newaxis]


def spec_augment(spec, rng):
    """One time and one frequency mask per example."""
    shape = tf.shape(spec)

    def mask(length, width):
        pos = rng.uniform((shape[0], 1), 0, length - width, dtype=tf.int32)
        axis = tf.range(length)[tf.newaxis]
        return tf.cast((axis < pos) | (axis >= pos + width), spec.dtype)

    spec *= mask(shape[1], 8)[:, :, tf.newaxis, tf.newaxis]
    return spec * mask(shape[2], 6)[:, tf.newaxis, :, tf.newaxis]


class SpeciesNet(keras.Model):
    def __init__(self, num_species, width=24):
        super().__init__()
        blocks = []
        for mult in (1, 2, 3):
            blocks += [
                layers.Conv2D(width * mult, 3, padding="same", activation="relu"),
                layers.Conv2D(width * mult, 3, padding="same", activation="relu"),
                layers.MaxPooling2D(),
            ]
        self.backbone = keras.Sequential(
            blocks + [layers.GlobalAveragePooling2D()], name="backbone"
        )
        self.head = keras.Sequential(
            [
                layers.LayerNormalization(),
                layers.Dense(96, activation="relu"),
                layers.Dense(num_species),
            ],
            name="head",
        )

    def call(self, spec, training=False):
        return self.head(self.backbone(spec, training=False), training=training)


class HeadTrainer:
    def __init__(self, model, lr, total_steps, seed):
        self.model = model
        self.optimizer = keras.optimizers.Adam(
            keras.optimizers.schedules.CosineDecay(lr, total_steps)
        )
        self.rng = tf.random.Generator.from_seed(seed)
        self.loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.train_loss = keras.metrics.Mean()
        self.grad_norm = keras.metrics.Mean()
        self.train_acc = keras.metrics.SparseCategoricalAccuracy()
        self.val_acc = keras.metrics.SparseCategoricalAccuracy()

    @tf.function
    def train_step(self, spec, labels):
        spec = spec_augment(spec, self.rng)
        with tf.GradientTape() as tape:
            logits = self.model(spec, training=True)
            loss = self.loss_fn(labels, logits)
        variables = self.model.trainable_variables
        grads = tape.gradient(loss, variables)
        grads, norm = tf.clip_by_global_norm(grads, 20.0)
        head_ids = {id(v) for v in self.model.head.trainable_variables}
        self.optimizer.apply_gradients(
            [(g, v) for g, v in zip(grads, variables) if id(v) in head_ids]
        )
        self.train_loss.update_state(loss)
        self.grad_norm.update_state(norm)
        self.train_acc.update_state(labels, logits)

    @tf.function
    def val_step(self, spec, labels):
        self.val_acc.update_state(labels, self.model(spec, training=False))

    def reset(self):
        for m in (self.train_loss, self.grad_norm, self.train_acc, self.val_acc):
            m.reset_state()


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--species", type=int, default=12)
    p.add_argument("--clips", type=int, default=1280)
    p.add_argument("--val-clips", type=int, default=160)
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--epochs", type=int, default=7)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--backbone-weights", default=None)
    p.add_argument("--out", default=None)
    p.add_argument("--seed", type=int, default=3)
    return p.parse_args()


def main():
    args = parse_args()
    logging.basicConfig(level=logging.INFO, format="[%(levelname)s] %(message)s")
    keras.utils.set_random_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    out = args.out or tempfile.mkdtemp(prefix="birdsong_")

    clips, labels = synth_clips(args.clips + args.val_clips, args.species, rng)
    specs = tf.concat([log_mel(clips[i : i + 160]) for i in range(0, len(clips), 160)], 0).numpy()
    specs = (specs - specs.mean()) / specs.std()
    train = (
        tf.data.Dataset.from_tensor_slices((specs[: args.clips], labels[: args.clips]))
        .shuffle(args.clips, seed=args.seed)
        .batch(args.batch, drop_remainder=True)
        .prefetch(2)
    )
    val = tf.data.Dataset.from_tensor_slices((specs[args.clips :], labels[args.clips :])).batch(
        args.batch
    )

    model = SpeciesNet(args.species)
    model(specs[:1])
    if args.backbone_weights:
        model.backbone.load_weights(args.backbone_weights)
    else:
        logger.warning("no backbone weights given, keeping the initial ones")

    steps_per_epoch = args.clips // args.batch
    trainer = HeadTrainer(model, args.lr, args.epochs * steps_per_epoch, args.seed)
    records = []
    for epoch in range(args.epochs):
        trainer.reset()
        t0 = time.time()
        for spec, y in train:
            trainer.train_step(spec, y)
        for spec, y in val:
            trainer.val_step(spec, y)
        row = {
            "epoch": epoch,
            "loss": float(trainer.train_loss.result()),
            "grad_norm": float(trainer.grad_norm.result()),
            "acc": float(trainer.train_acc.result()),
            "val_acc": float(trainer.val_acc.result()),
            "seconds": round(time.time() - t0, 2),
        }
        records.append(row)
        logger.info(json.dumps(row))

    model.head.save_weights(os.path.join(out, "head.weights.h5"))
    with open(os.path.join(out, "history.json"), "w") as f:
        json.dump(records, f, indent=1)


if __name__ == "__main__":
    main()
