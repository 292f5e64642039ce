"""Embeds feather barbs so that two views of one barb lie together.

InfoNCE with the keys of the last batches as further negatives.
"""

import argparse

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--barbs", type=int, default=4000)
parser.add_argument("--points", type=int, default=64)
parser.add_argument("--dim", type=int, default=64)
parser.add_argument("--batch", type=int, default=128)
parser.add_argument("--negatives", type=int, default=2048)
parser.add_argument("--steps", type=int, default=500)
parser.add_argument("--temperature", type=float, default=0.15)
parser.add_argument("--seed", type=int, default=13)


def make_barbs(args, rng):
    """Barb profiles: a curved shaft with barbules of some pitch."""
    s = np.linspace(0, 1, args.points, dtype=np.float32)
    pitch = rng.uniform(4, 14, (args.barbs, 1))
    curve = rng.normal(0, 0.6, (args.barbs, 1))
    taper = rng.uniform(0.5, 2.5, (args.barbs, 1))
    phase = rng.uniform(0, 2 * np.pi, (args.barbs, 1))
    profile = curve * s**2 + np.exp(-taper * s) * np.sin(2 * np.pi * pitch * s + phase)
    return profile.astype(np.float32)


def view(profiles, rng):
    """One look at the barbs: shaken, scaled, and partly hidden."""
    out = profiles * rng.uniform(0.8, 1.2, (len(profiles), 1))
    out = out + rng.normal(0, 0.15, profiles.shape)
    start = rng.integers(0, profiles.shape[1] - 8, len(profiles))
    hidden = np.arange(profiles.shape[1])[None] - start[:, None]
    out[(hidden >= 0) & (hidden < 8)] = 0.0
    return out.astype(np.float32)


def make_encoder(args):
    return tf.keras.Sequential(
        [
            tf.keras.Input((args.points,)),
            tf.keras.layers.Dense(384, activation="relu"),
            tf.keras.layers.Dense(384, activation="relu"),
            tf.keras.layers.Dense(args.dim),
            tf.keras.layers.UnitNormalization(),
        ]
    )


class KeyQueue:
    """Keys of the batches before this one."""

    def __init__(self, size, dim, seed):
        first = tf.random.stateless_normal((size, dim), seed=(seed, 0))
        self.size = size
        self.keys = [tf.math.l2_normalize(first, axis=-1)]

    def push(self, keys):
        self.keys.append(keys)

    def negatives(self):
        return tf.concat(self.keys, axis=0)[-self.size :]


def main():
    args = parser.parse_args()
    rng = np.random.default_rng(args.seed)
    tf.random.set_seed(args.seed)
    barbs = make_barbs(args, rng)

    encoder, key_encoder = make_encoder(args), make_encoder(args)
    key_encoder.set_weights(encoder.get_weights())
    optimizer = tf.keras.optimizers.Adam(1e-3)
    queue = KeyQueue(args.negatives, args.dim, args.seed)

    @tf.function
    def train_step(left, right, negatives):
        keys = key_encoder(right, training=False)
        with tf.GradientTape() as tape:
            queries = encoder(left, training=True)
            same = tf.reduce_sum(queries * keys, -1, keepdims=True)
            others = tf.matmul(queries, negatives, transpose_b=True)
            logits = tf.concat([same, others], -1) / args.temperature
            target = tf.zeros(tf.shape(logits)[0], tf.int32)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(target, logits))
        grads = tape.gradient(loss, encoder.trainable_variables)
        optimizer.apply_gradients(zip(grads, encoder.trainable_variables))
        for slow, fast in zip(key_encoder.variables, encoder.variables):
            slow.assign(0.99 * slow + 0.01 * fast)
        return loss, keys

    for step in range(1, args.steps + 1):
        some = barbs[rng.integers(0, args.barbs, args.batch)]
        left, right = tf.constant(view(some, rng)), tf.constant(view(some, rng))
        loss, keys = train_step(left, right, queue.negatives())
        queue.push(keys)
        if step % 100 == 0:
            print(f"step {step:5d}  loss {float(loss):.3f}")

    probe = barbs[:512]
    a = encoder(view(probe, rng)).numpy()
    b = encoder(view(probe, rng)).numpy()
    found = ((a @ b.T).argmax(1) == np.arange(len(probe))).mean()
    print(f"found its twin: {found:.1%}")


if __name__ == "__main__":
    main()
