"""Shepherd command recogniser (whistle spectrograms): length curriculum with bucketed TFRecords.

Stage 1 trains on short calls, stages 2 and 3 on longer ones.  Batches are always padded to
the stage length so that the step is traced once and fed with an open time axis.
"""

import argparse
import math
import os
import tempfile
import time
from dataclasses import dataclass, field

import numpy as np
import tensorflow as tf

COMMANDS = ["come-bye", "away", "lie-down", "walk-up", "stand", "that-ll-do", "look-back", "get-in"]


@dataclass
class Stage:
    frames: int
    steps: int
    batch: int


@dataclass
class CallConfig:
    mels: int = 48
    dim: int = 96
    shards: int = 4
    per_shard: int = 120
    lr: float = 1e-3
    stages: list = field(
        default_factory=lambda: [Stage(64, 80, 48), Stage(128, 60, 48), Stage(224, 40, 48)]
    )


def one_call(cls, frames, mels, rng):
    """A whistle is a gliding ridge in the spectrogram; glide shape depends on the command."""
    t = np.linspace(0, 1, frames)
    rise, wob = (cls % 4) - 1.5, 1 + cls // 4 * 3
    ridge = mels * (
        0.5 + 0.2 * rise * (t - 0.5) + 0.12 * np.sin(2 * np.pi * wob * t + rng.uniform(0, 0.5))
    )
    grid = np.arange(mels)[None, :]
    spec = np.exp(-0.5 * ((grid - ridge[:, None]) / 1.5) ** 2)
    return (spec + rng.normal(0, 0.25, spec.shape)).astype(np.float32)


def write_shards(cfg, root, frames, rng):
    paths = []
    for s in range(cfg.shards):
        path = os.path.join(root, f"calls-{frames:03d}-{s}.tfrecord")
        with tf.io.TFRecordWriter(path) as w:
            for _ in range(cfg.per_shard):
                cls = int(rng.integers(len(COMMANDS)))
                spec = one_call(cls, frames, cfg.mels, rng)
                feat = {
                    "spec": tf.train.Feature(bytes_list=tf.train.BytesList(value=[spec.tobytes()])),
                    "cls": tf.train.Feature(int64_list=tf.train.Int64List(value=[cls])),
                }
                w.write(
                    tf.train.Example(features=tf.train.Features(feature=feat)).SerializeToString()
                )
        paths.append(path)
    return paths


def stage_dataset(cfg, stage, paths):
    schema = {
        "spec": tf.io.FixedLenFeature([], tf.string),
        "cls": tf.io.FixedLenFeature([], tf.int64),
    }

    def decode(batch):
        ex = tf.io.parse_example(batch, schema)
        spec = tf.io.decode_raw(ex["spec"], tf.float32)
        return tf.reshape(spec, (-1, stage.frames, cfg.mels)), tf.cast(ex["cls"], tf.int32)

    ds = tf.data.Dataset.from_tensor_slices(paths)
    ds = ds.interleave(tf.data.TFRecordDataset, cycle_length=cfg.shards)
    return (
        ds.shuffle(256, seed=1)
        .repeat()
        .batch(stage.batch)
        .map(decode, num_parallel_calls=2)
        .prefetch(2)
    )


class Residual(tf.keras.layers.Layer):
    def __init__(self, dim, dilation):
        super().__init__()
        self.norm = tf.keras.layers.LayerNormalization()
        self.conv = tf.keras.layers.Conv1D(
            dim, 5, padding="same", dilation_rate=dilation, activation="relu"
        )
        self.proj = tf.keras.layers.Dense(dim)

    def call(self, x):
        return x + self.proj(self.conv(self.norm(x)))


def build(cfg):
    inp = tf.keras.Input((None, cfg.mels))
    x = tf.keras.layers.Dense(cfg.dim)(inp)
    for dil in (1, 2, 4, 8):
        x = Residual(cfg.dim, dil)(x)
    x = tf.keras.layers.GlobalAveragePooling1D()(x)
    return tf.keras.Model(inp, tf.keras.layers.Dense(len(COMMANDS))(x))


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.model = build(cfg)
        self.opt = tf.keras.optimizers.Adam(cfg.lr)
        self.opt.build(self.model.trainable_variables)
        self.loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        spec = [tf.TensorSpec([None, None, cfg.mels], tf.float32), tf.TensorSpec([None], tf.int32)]
        self.train_step = tf.function(self._train_step, input_signature=spec)
        self.history = []

    def _train_step(self, spec, cls):
        spec = self.spec_augment(spec)
        with tf.GradientTape() as tape:
            logits = self.model(spec, training=True)
            loss = self.loss_fn(cls, logits)
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.model.trainable_variables))
        acc = tf.reduce_mean(tf.cast(tf.argmax(logits, -1, tf.int32) == cls, tf.float32))
        return loss, acc

    def spec_augment(self, spec):
        start = tf.random.uniform([], 0, self.cfg.mels - 6, tf.int32)
        band = tf.range(self.cfg.mels)
        mask = tf.cast((band < start) | (band >= start + 6), tf.float32)
        return spec * mask

    def run_stage(self, number, stage, paths):
        self.opt.learning_rate.assign(
            self.cfg.lr * math.sqrt(self.cfg.stages[0].frames / stage.frames)
        )
        t0 = time.time()
        for spec, cls in stage_dataset(self.cfg, stage, paths).take(stage.steps):
            loss, acc = self.train_step(spec, cls)
            self.history.append((loss, acc))
        tail = self.history[-10:]
        print(
            f"stage {number}: {stage.frames} frames, loss {np.mean([float(l) for l, _ in tail]):.3f}, "
            f"acc {np.mean([float(a) for _, a in tail]):.3f}, {time.time() - t0:.1f}s"
        )


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--lr", type=float, default=1e-3)
    cfg = CallConfig(lr=ap.parse_args().lr)
    tf.keras.utils.set_random_seed(19)
    rng = np.random.default_rng(19)
    with tempfile.TemporaryDirectory(dir=tempfile.mkdtemp()) as root:
        files = [write_shards(cfg, root, s.frames, rng) for s in cfg.stages]
        trainer = Trainer(cfg)
        for i, (stage, paths) in enumerate(zip(cfg.stages, files), 1):
            trainer.run_stage(i, stage, paths)
    print("updates:", len(trainer.history))


if __name__ == "__main__":
    main()
