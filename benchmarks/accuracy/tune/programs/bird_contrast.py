"""SimCLR-like pretraining on simulated bird call spectrograms."""

import time

import numpy as np
import tensorflow as tf

AUTOTUNE = tf.data.AUTOTUNE


class CallBank:
    """Simulated spectrograms of 64 mel bins x 48 frames."""

    def __init__(self, n=6000, seed=0):
        rng = np.random.default_rng(seed)
        t = np.arange(48)[None, :]
        f0 = rng.uniform(8, 50, (n, 1))
        sweep = rng.normal(0, 0.3, (n, 1))
        trill = rng.uniform(0.05, 0.5, (n, 1))
        ridge = f0 + sweep * t + 4 * np.sin(trill * t)
        bins = np.arange(64)[None, :, None]
        self.specs = np.exp(-((bins - ridge[:, None, :]) ** 2) / 8).astype("float32")
        self.specs += rng.gamma(1.0, 0.05, self.specs.shape).astype("float32")


def mask_band(spec, axis, width):
    size = spec.shape[axis]
    lo = tf.random.uniform([], 0, size - width, tf.int32)
    idx = tf.range(size)
    keep = tf.cast((idx < lo) | (idx >= lo + width), tf.float32)
    return spec * (keep[:, None] if axis == 0 else keep[None, :])


def view(spec):
    spec = tf.roll(spec, tf.random.uniform([], -6, 6, tf.int32), axis=1)
    spec = mask_band(spec, 0, 8)
    spec = mask_band(spec, 1, 6)
    return tf.math.log1p(spec * tf.random.uniform([], 0.6, 1.6))[..., None]


class Feed:
    """Keeps the reading position, so that a session can go on where it ended."""

    def __init__(self, specs, batch):
        self.batch = batch
        self.position = 0
        self.source = (
            tf.data.Dataset.from_tensor_slices(specs)
            .repeat()
            .shuffle(2000, seed=4, reshuffle_each_iteration=False)
            .map(lambda s: (view(s), view(s)), num_parallel_calls=AUTOTUNE)
            .batch(batch, drop_remainder=True)
        )

    def segment(self, n_batches):
        part = self.source.skip(self.position).take(n_batches).prefetch(AUTOTUNE)
        for pair in part:
            self.position += 1
            yield pair


def build_encoder():
    k = tf.keras
    return k.Sequential(
        [
            k.Input((64, 48, 1)),
            k.layers.Conv2D(24, 5, strides=2, padding="same", activation="relu"),
            k.layers.Conv2D(48, 3, strides=2, padding="same", activation="relu"),
            k.layers.Conv2D(64, 3, strides=2, padding="same", activation="relu"),
            k.layers.GlobalAveragePooling2D(),
            k.layers.Dense(128, activation="relu"),
            k.layers.Dense(48),
        ]
    )


def nt_xent(za, zb, temperature=0.2):
    z = tf.math.l2_normalize(tf.concat([za, zb], 0), -1)
    n = tf.shape(za)[0]
    sim = tf.matmul(z, z, transpose_b=True) / temperature - 1e9 * tf.eye(2 * n)
    labels = tf.concat([tf.range(n, 2 * n), tf.range(n)], 0)
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, sim))


class Pretrainer:
    def __init__(self, feed):
        self.feed = feed
        self.encoder = build_encoder()
        self.opt = tf.keras.optimizers.Adam(1e-3)
        self.history = []

    @tf.function
    def step(self, a, b):
        with tf.GradientTape() as tape:
            loss = nt_xent(self.encoder(a, training=True), self.encoder(b, training=True))
        grads = tape.gradient(loss, self.encoder.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.encoder.trainable_variables))
        return loss

    def run(self, segments, per_segment):
        for s in range(segments):
            losses = [self.step(a, b) for a, b in self.feed.segment(per_segment)]
            self.history.append(float(tf.add_n(losses)) / len(losses))
            if s % 5 == 0:
                print(
                    f"segment {s:3d}  position {self.feed.position:5d}  loss {self.history[-1]:.4f}"
                )


if __name__ == "__main__":
    tf.random.set_seed(1)
    trainer = Pretrainer(Feed(CallBank().specs, batch=64))
    t0 = time.time()
    trainer.run(segments=26, per_segment=8)
    print("train wall", round(time.time() - t0, 2))
