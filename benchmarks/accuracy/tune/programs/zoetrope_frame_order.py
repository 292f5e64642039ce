"""Puts the shuffled frames of a zoetrope strip back into order.

Frames are encoded by a small conv net, and a fixed-point attention block is
unrolled until the frames agree on their places. A smoothness penalty on the
encoder's input gradient is applied lazily, in each fourth step only.
"""

import argparse

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

FRAMES = 8
SIDE = 24


def draw_strips(rng, n):
    """A dot swings round and shrinks; the frames of one strip in true order."""
    yy, xx = np.mgrid[0:SIDE, 0:SIDE].astype(np.float32)
    t = np.arange(FRAMES, dtype=np.float32)[None]
    start = rng.uniform(0, 2 * np.pi, (n, 1))
    speed = rng.uniform(0.35, 0.7, (n, 1))
    reach = rng.uniform(5, 9, (n, 1))
    cx = (SIDE / 2 + reach * np.cos(start + speed * t))[..., None, None]
    cy = (SIDE / 2 + reach * np.sin(start + speed * t))[..., None, None]
    size = (3.2 - 0.22 * t)[..., None, None]
    strip = np.exp(-((xx - cx) ** 2 + (yy - cy) ** 2) / (2 * size**2))
    strip += rng.normal(0, 0.08, strip.shape)
    return strip[..., None].astype(np.float32)


def shuffled(rng, strips):
    order = rng.permuted(np.tile(np.arange(FRAMES), (len(strips), 1)), axis=1)
    return strips[np.arange(len(strips))[:, None], order], order.astype(np.int32)


class FrameEncoder(tf.keras.Model):
    def __init__(self, width):
        super().__init__()
        self.convs = [
            layers.Conv2D(16, 3, strides=1, padding="same", activation="swish"),
            layers.Conv2D(32, 3, strides=2, padding="same", activation="swish"),
            layers.Conv2D(48, 3, strides=2, padding="same", activation="swish"),
        ]
        self.flat = layers.Flatten()
        self.out = layers.Dense(width)

    def call(self, frames):
        h = tf.reshape(frames, [-1, SIDE, SIDE, 1])
        for conv in self.convs:
            h = conv(h)
        return tf.reshape(self.out(self.flat(h)), [-1, FRAMES, self.out.units])


class Agreement(tf.keras.Model):
    """z <- block(z, frames), over and over with the same weights."""

    def __init__(self, width, rounds):
        super().__init__()
        self.rounds = rounds
        self.attend = layers.MultiHeadAttention(4, width // 4)
        self.norms = [layers.LayerNormalization() for _ in range(2)]
        self.widen = layers.Dense(2 * width, activation="swish")
        self.narrow = layers.Dense(width)
        self.places = layers.Dense(FRAMES)

    def call(self, frames):
        z = frames
        for _ in range(self.rounds):
            z = self.norms[0](z + frames + self.attend(z, z))
            z = self.norms[1](z + self.narrow(self.widen(z)))
        return self.places(z)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=96)
    parser.add_argument("--batch", type=int, default=20)
    parser.add_argument("--width", type=int, default=96)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--penalty-every", type=int, default=4)
    args = parser.parse_args()

    rng = np.random.default_rng(44)
    tf.random.set_seed(44)
    encoder, agreement = FrameEncoder(args.width), Agreement(args.width, args.rounds)
    agreement(encoder(tf.zeros([1, FRAMES, SIDE, SIDE, 1])))
    variables = encoder.trainable_variables + agreement.trainable_variables
    optimizer = tf.keras.optimizers.AdamW(1e-3, weight_decay=1e-4)
    optimizer.build(variables)

    def place_loss(frames, order):
        logits = agreement(encoder(frames))
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(order, logits)
        return tf.reduce_mean(loss), logits

    @tf.function
    def plain_step(frames, order):
        with tf.GradientTape() as tape:
            loss, logits = place_loss(frames, order)
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        hit = tf.argmax(logits, -1, output_type=tf.int32) == order
        return loss, tf.reduce_mean(tf.cast(hit, tf.float32))

    @tf.function
    def smooth_step(frames, order):
        with tf.GradientTape() as tape:
            loss, logits = place_loss(frames, order)
            with tf.GradientTape() as inner:
                inner.watch(frames)
                codes = tf.reduce_sum(tf.square(encoder(frames)), [1, 2])
            slope = inner.gradient(codes, frames)
            rough = tf.reduce_mean(tf.reduce_sum(tf.square(slope), [1, 2, 3, 4]))
            total = loss + args.penalty_every * 1e-5 * rough
        optimizer.apply_gradients(zip(tape.gradient(total, variables), variables))
        hit = tf.argmax(logits, -1, output_type=tf.int32) == order
        return loss, tf.reduce_mean(tf.cast(hit, tf.float32))

    strips = draw_strips(rng, 600)
    for step in range(1, args.steps + 1):
        frames, order = shuffled(rng, strips[rng.integers(0, len(strips), args.batch)])
        run = smooth_step if step % args.penalty_every == 0 else plain_step
        loss, right = run(tf.constant(frames), tf.constant(order))
        if step % 16 == 0:
            print(f"{step:4d} loss {float(loss):.3f} frames in place {float(right):.2f}")

    frames, order = shuffled(rng, draw_strips(rng, 64))
    guess = agreement(encoder(tf.constant(frames))).numpy().argmax(-1)
    print(f"new strips: {(guess == order).mean():.1%} of the frames in place")


if __name__ == "__main__":
    main()
