"""Lute tablature tagger; the excerpts grow as the pupil gets better (three lengths)."""

import os
import tempfile
from dataclasses import dataclass

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

FRETS = 24
FINGERS = 5


@dataclass(frozen=True)
class Stage:
    length: int
    batch: int
    epochs: int


STAGES = (Stage(24, 64, 3), Stage(48, 64, 2), Stage(96, 64, 2))


def excerpts(n, length, rng):
    walk = np.cumsum(rng.integers(-2, 3, size=(n, length)), axis=1)
    frets = np.mod(walk + rng.integers(0, FRETS, size=(n, 1)), FRETS)
    prev = np.concatenate([frets[:, :1], frets[:, :-1]], axis=1)
    finger = (frets - prev + frets // 5) % FINGERS
    slip = rng.random(finger.shape) < 0.12
    finger = np.where(slip, rng.integers(0, FINGERS, finger.shape), finger)
    return frets.astype("int32"), finger.astype("int32")


def fixed_options():
    options = tf.data.Options()
    options.autotune.enabled = False
    return options


class Fingering(keras.Model):
    def __init__(self, dim=96, layers_n=3):
        super().__init__()
        self.emb = layers.Embedding(FRETS, dim)
        self.convs = [
            layers.Conv1D(dim * 2, 5, padding="causal", dilation_rate=2**i, activation="relu")
            for i in range(layers_n)
        ]
        self.norms = [layers.LayerNormalization() for _ in range(layers_n)]
        self.proj = [layers.Dense(dim) for _ in range(layers_n)]
        self.out = layers.Dense(FINGERS)

    def call(self, frets):
        h = self.emb(frets)
        for conv, norm, proj in zip(self.convs, self.norms, self.proj):
            h = h + proj(conv(norm(h)))
        return self.out(h)


class Teacher:
    def __init__(self, lr=2e-3):
        self.model = Fingering()
        self.model(tf.zeros([1, 8], tf.int32))
        self.opt = keras.optimizers.AdamW(lr, weight_decay=1e-4)
        self.opt.build(self.model.trainable_variables)
        self.loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.mean = keras.metrics.Mean()
        self.acc = keras.metrics.SparseCategoricalAccuracy()

    @tf.function(
        reduce_retracing=True,
        input_signature=[
            tf.TensorSpec([None, None], tf.int32),
            tf.TensorSpec([None, None], tf.int32),
        ],
    )
    def step(self, frets, fingers):
        with tf.GradientTape() as tape:
            logits = self.model(frets, training=True)
            loss = self.loss(fingers, logits)
        variables = self.model.trainable_variables
        self.opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
        self.mean.update_state(loss)
        self.acc.update_state(fingers, logits)

    @tf.function(
        input_signature=[
            tf.TensorSpec([None, None], tf.int32),
            tf.TensorSpec([None, None], tf.int32),
        ]
    )
    def test(self, frets, fingers):
        self.acc.update_state(fingers, self.model(frets, training=False))

    def stage(self, stage, train, held):
        ds = tf.data.Dataset.from_tensor_slices(train).shuffle(4096, seed=stage.length)
        ds = ds.batch(stage.batch, drop_remainder=True).prefetch(2).with_options(fixed_options())
        for epoch in range(stage.epochs):
            self.mean.reset_state()
            self.acc.reset_state()
            for frets, fingers in ds:
                self.step(frets, fingers)
            print(
                f"len {stage.length:3d} epoch {epoch} loss {self.mean.result():.3f} acc {self.acc.result():.3f}"
            )
        self.acc.reset_state()
        self.test(*held)
        print(f"  -> held out: {self.acc.result():.3f}")


def main():
    keras.utils.set_random_seed(9)
    rng = np.random.default_rng(9)
    teacher = Teacher()
    ckpt = tf.train.Checkpoint(model=teacher.model, opt=teacher.opt)
    folder = tempfile.mkdtemp(prefix="lute_")
    for stage in STAGES:
        train = excerpts(2816, stage.length, rng)
        held = excerpts(128, stage.length, rng)
        teacher.stage(stage, train, [tf.constant(h) for h in held])
        ckpt.write(os.path.join(folder, f"len{stage.length}"))


if __name__ == "__main__":
    main()
