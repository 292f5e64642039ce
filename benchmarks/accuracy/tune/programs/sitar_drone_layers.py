"""Which string is the drone on? Small mel encoder for sitar plucks, joint start and then head tuning."""

import argparse
import time

import numpy as np
import tensorflow as tf


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--joint", type=int, default=25)
    p.add_argument("--tune", type=int, default=300)
    p.add_argument("--batch", type=int, default=48)
    p.add_argument("--strings", type=int, default=7)
    p.add_argument("--seed", type=int, default=41)
    return p.parse_args()


def pluck(rng, n, strings, sr=4000, samples=6400):
    t = np.arange(samples) / sr
    label = rng.integers(0, strings, n)
    f0 = 130.0 * 2 ** (label / 12.0) * (1 + 0.004 * rng.standard_normal(n))
    wave = np.zeros((n, samples), np.float32)
    for k in range(1, 6):
        amp = rng.uniform(0.2, 1.0, (n, 1)) / k
        wave += (amp * np.sin(2 * np.pi * k * f0[:, None] * t) * np.exp(-t * k)).astype(np.float32)
    return wave + 0.1 * rng.standard_normal(wave.shape).astype(np.float32), label.astype(np.int32)


def log_mel(wave, sr=4000):
    spec = tf.abs(tf.signal.stft(wave, 256, 64))
    mel = tf.signal.linear_to_mel_weight_matrix(48, spec.shape[-1], sr, 60.0, 1900.0)
    return tf.math.log(1e-3 + tf.tensordot(spec, mel, 1))


def mask_time(x):
    """Blanks a stripe of frames, a new one per clip."""
    n, frames = tf.shape(x)[0], tf.shape(x)[1]
    start = tf.random.uniform([n, 1], 0, frames - 12, tf.int32)
    pos = tf.range(frames)[None]
    keep = tf.logical_or(pos < start, pos >= start + 12)
    return x * tf.cast(keep, tf.float32)[..., None]


class DroneTrainer:
    def __init__(self, strings):
        L = tf.keras.layers
        self.encoder = tf.keras.Sequential(
            [
                L.Conv1D(128, 5, padding="same", activation="gelu"),
                L.Conv1D(160, 5, padding="same", activation="gelu"),
                L.Conv1D(160, 5, padding="same", activation="gelu"),
                L.GlobalAveragePooling1D(),
            ]
        )
        self.head = tf.keras.Sequential([L.Dense(128, activation="relu"), L.Dense(strings)])
        self.rate = {
            "encoder": tf.Variable(1.0, trainable=False),
            "head": tf.Variable(1.0, trainable=False),
        }
        self.joint_opt = tf.keras.optimizers.Adam(1e-3)
        self.tune_opt = tf.keras.optimizers.SGD(0.05)

    def loss(self, x, y):
        logits = self.head(self.encoder(mask_time(x)))
        ce = tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits)
        return tf.reduce_mean(ce)

    @tf.function
    def joint_step(self, x, y):
        with tf.GradientTape() as tape:
            loss = self.loss(x, y)
        variables = self.encoder.trainable_variables + self.head.trainable_variables
        self.joint_opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    @tf.function
    def tune_step(self, x, y):
        with tf.GradientTape() as tape:
            loss = self.loss(x, y)
        body, top = self.encoder.trainable_variables, self.head.trainable_variables
        grads = tape.gradient(loss, body + top)
        scaled = [g * self.rate["encoder"] for g in grads[: len(body)]]
        scaled += [g * self.rate["head"] for g in grads[len(body) :]]
        self.tune_opt.apply_gradients(zip(scaled, body + top))
        return loss


def main():
    args = parse()
    tf.keras.utils.set_random_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    wave, label = pluck(rng, 720, args.strings)
    feats = log_mel(tf.constant(wave))
    feats = (feats - tf.reduce_mean(feats)) / tf.math.reduce_std(feats)
    ds = (
        tf.data.Dataset.from_tensor_slices((feats, label))
        .cache()
        .shuffle(720, seed=1)
        .repeat()
        .batch(args.batch, drop_remainder=True)
        .prefetch(2)
    )
    it = iter(ds)
    trainer = DroneTrainer(args.strings)
    begin = time.time()
    for i in range(args.joint):
        loss = trainer.joint_step(*next(it))
    print("joint  loss %.4f" % float(loss))

    trainer.rate["encoder"].assign(0.0)
    for i in range(args.tune):
        loss = trainer.tune_step(*next(it))
        if i % 60 == 59:
            print("tune %4d loss %.4f" % (i + 1, float(loss)))
    print("done in %.1f s" % (time.time() - begin))


if __name__ == "__main__":
    main()
