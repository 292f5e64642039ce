"""Small keyword spotting model on synthetic log-mel patches with SpecAugment-like masking."""

import argparse
from dataclasses import dataclass

import numpy as np
import tensorflow as tf
from tensorflow import keras

N_FRAMES, N_MELS, N_WORDS = 64, 40, 12


@dataclass(eq=False)
class SpecMask:
    """One masking policy: a time band and a mel band that are blanked out."""

    t0: int
    t_width: int
    f0: int
    f_width: int

    @classmethod
    def draw(cls, rng, max_t=16, max_f=10):
        t_width, f_width = int(rng.integers(1, max_t)), int(rng.integers(1, max_f))
        return cls(
            t0=int(rng.integers(0, N_FRAMES - t_width)),
            t_width=t_width,
            f0=int(rng.integers(0, N_MELS - f_width)),
            f_width=f_width,
        )

    def band(self):
        keep = np.ones((N_FRAMES, N_MELS), np.float32)
        keep[self.t0 : self.t0 + self.t_width, :] = 0.0
        keep[:, self.f0 : self.f0 + self.f_width] = 0.0
        return keep

    def __call__(self, spec):
        return spec * tf.constant(self.band())[None, :, :, None]


def make_corpus(n, rng):
    templates = rng.normal(size=(N_WORDS, N_FRAMES, N_MELS)).astype("float32")
    words = rng.integers(0, N_WORDS, n)
    noise = rng.normal(scale=1.0, size=(n, N_FRAMES, N_MELS)).astype("float32")
    spec = templates[words] + noise
    for i in range(n):
        spec[i] = np.roll(spec[i], rng.integers(-4, 5), axis=0)
    return spec[..., None], words.astype("int32")


def build_net():
    inp = keras.Input((N_FRAMES, N_MELS, 1))
    x = keras.layers.Conv2D(16, 3, strides=2, padding="same", use_bias=False)(inp)
    x = keras.layers.BatchNormalization()(x)
    x = keras.layers.ReLU()(x)
    for width in (24, 32):
        x = keras.layers.DepthwiseConv2D(3, padding="same", use_bias=False)(x)
        x = keras.layers.BatchNormalization()(x)
        x = keras.layers.ReLU()(x)
        x = keras.layers.Conv2D(width, 1, use_bias=False)(x)
        x = keras.layers.BatchNormalization()(x)
        x = keras.layers.ReLU()(x)
    x = keras.layers.GlobalAveragePooling2D()(x)
    return keras.Model(inp, keras.layers.Dense(N_WORDS)(x))


class Trainer:
    def __init__(self, lr, consistency):
        self.net = build_net()
        self.opt = keras.optimizers.Adam(lr)
        self.opt.build(self.net.trainable_variables)
        self.ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.kl = keras.losses.KLDivergence()
        self.consistency = consistency

    @tf.function
    def train_step(self, spec, words, policy):
        with tf.GradientTape() as tape:
            clean = self.net(spec, training=True)
            masked = self.net(policy(spec), training=True)
            agree = self.kl(tf.stop_gradient(tf.nn.softmax(clean)), tf.nn.softmax(masked))
            loss = self.ce(words, clean) + self.ce(words, masked) + self.consistency * agree
        grads = tape.gradient(loss, self.net.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.net.trainable_variables))
        return loss

    @tf.function
    def evaluate_batch(self, spec, words):
        pred = tf.argmax(self.net(spec, training=False), -1, output_type=tf.int32)
        return tf.reduce_mean(tf.cast(pred == words, tf.float32))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--rounds", type=int, default=24)
    ap.add_argument("--batches-per-policy", type=int, default=8)
    ap.add_argument("--batch-size", type=int, default=32)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--consistency", type=float, default=0.5)
    args = ap.parse_args()

    rng = np.random.default_rng(11)
    tf.random.set_seed(11)
    spec, words = make_corpus(1536, rng)
    train = (
        tf.data.Dataset.from_tensor_slices((spec[:1280], words[:1280]))
        .shuffle(1280, seed=1)
        .repeat()
        .batch(args.batch_size)
        .prefetch(2)
    )
    batches = iter(train)
    trainer = Trainer(args.lr, args.consistency)

    for rnd in range(args.rounds):
        policy = SpecMask.draw(rng)
        losses = []
        for _ in range(args.batches_per_policy):
            x, y = next(batches)
            losses.append(float(trainer.train_step(x, y, policy)))
        if (rnd + 1) % 8 == 0:
            acc = trainer.evaluate_batch(spec[1280:], words[1280:])
            print(f"round {rnd + 1:3d}  loss {np.mean(losses):.3f}  held-out acc {float(acc):.3f}")


if __name__ == "__main__":
    main()
