"""Hop varieties from gas chromatograms: encoder plus a reference bank of lots."""

import argparse
import os
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
from tensorflow import keras

VARIETIES = ["saaz", "citra", "mosaic", "fuggle", "cascade", "hallertau"]


def chromatograms(n, points, rng):
    peaks = rng.uniform(0.05, 0.95, size=(len(VARIETIES), 9))
    heights = rng.gamma(2.0, 1.0, size=(len(VARIETIES), 9))
    grid = np.linspace(0, 1, points)[None, None, :]
    label = rng.integers(0, len(VARIETIES), size=n)
    shift = rng.normal(0, 0.006, size=(n, 9, 1))
    curves = np.exp(-(((grid - peaks[label][:, :, None] - shift) / 0.012) ** 2))
    x = (curves * heights[label][:, :, None]).sum(axis=1)
    x += rng.normal(0, 0.25, size=x.shape)
    return x[..., None].astype("float32"), label.astype("int32")


class LotEncoder(keras.Model):
    def __init__(self, width, dim):
        super().__init__()
        self.blocks = [
            keras.layers.Conv1D(width, 9, strides=2, padding="same", activation="relu"),
            keras.layers.Conv1D(width * 2, 5, strides=2, padding="same", activation="relu"),
            keras.layers.Conv1D(width * 2, 5, strides=2, padding="same", activation="relu"),
            keras.layers.GlobalAveragePooling1D(),
        ]
        self.embed = keras.layers.Dense(dim)
        self.out = keras.layers.Dense(len(VARIETIES))

    def call(self, x):
        for b in self.blocks:
            x = b(x)
        z = tf.math.l2_normalize(self.embed(x), axis=-1)
        return z, self.out(z * 8.0)


class ReferenceLots:
    """Embeddings of lots that were seen, used as keys of the neighbour loss."""

    def __init__(self, capacity, dim):
        self.capacity = capacity
        self.keys = tf.zeros([0, dim])
        self.labels = tf.zeros([0], tf.int32)

    def add(self, z, y):
        self.keys = tf.concat([self.keys, z], axis=0)
        self.labels = tf.concat([self.labels, y], axis=0)

    def __len__(self):
        return int(self.keys.shape[0])


def neighbour_loss(z, y, keys, labels, temperature=0.1):
    sim = tf.matmul(z, keys, transpose_b=True) / temperature
    same = tf.cast(y[:, None] == labels[None, :], tf.float32)
    logp = sim - tf.reduce_logsumexp(sim, axis=1, keepdims=True)
    return -tf.reduce_mean(tf.reduce_sum(same * logp, axis=1) / (tf.reduce_sum(same, axis=1) + 1.0))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=560)
    p.add_argument("--batch", type=int, default=128)
    p.add_argument("--dim", type=int, default=64)
    p.add_argument("--capacity", type=int, default=2048)
    args = p.parse_args()
    keras.utils.set_random_seed(11)
    rng = np.random.default_rng(11)
    x, y = chromatograms(3000, 256, rng)
    ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(3000, seed=1).repeat()
    ds = ds.batch(args.batch, drop_remainder=True).take(args.steps).prefetch(2)
    options = tf.data.Options()
    options.autotune.enabled = False
    ds = ds.with_options(options)

    model = LotEncoder(12, args.dim)
    opt = keras.optimizers.Adam(2e-3)
    ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    bank = ReferenceLots(args.capacity, args.dim)
    spec = [
        tf.TensorSpec([None, 256, 1]),
        tf.TensorSpec([None], tf.int32),
        tf.TensorSpec([None, args.dim]),
        tf.TensorSpec([None], tf.int32),
    ]

    @tf.function(input_signature=spec)
    def train_step(xb, yb, keys, labels):
        with tf.GradientTape() as tape:
            z, logits = model(xb, training=True)
            loss = ce(yb, logits)
            loss += 0.3 * neighbour_loss(z, yb, tf.concat([keys, z], 0), tf.concat([labels, yb], 0))
        grads = tape.gradient(loss, model.trainable_variables)
        opt.apply_gradients(zip(grads, model.trainable_variables))
        acc = tf.reduce_mean(tf.cast(tf.argmax(logits, -1, output_type=tf.int32) == yb, tf.float32))
        return tf.stop_gradient(z), loss, acc

    model(tf.zeros([1, 256, 1]))
    opt.build(model.trainable_variables)
    for i, (xb, yb) in enumerate(ds):
        z, loss, acc = train_step(xb, yb, bank.keys, bank.labels)
        bank.add(z, yb)
        if i % 80 == 0:
            print(f"step {i:4d} loss {float(loss):.3f} acc {float(acc):.3f} lots {len(bank)}")
    model.save_weights(os.path.join(tempfile.mkdtemp(), "hops.weights.h5"))
    print("done", float(loss))


if __name__ == "__main__":
    main()
