"""Pigment recipe regression for a stained-glass workshop, MirroredStrategy on what is there."""

import argparse
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

WAVELENGTHS = 160
OXIDES = ["cobalt", "copper", "iron", "manganese", "gold", "selenium"]


def glass(n, seed):
    rng = np.random.default_rng(seed)
    recipe = rng.gamma(0.7, 0.5, (n, len(OXIDES))).astype("float32")
    wl = np.linspace(0, 1, WAVELENGTHS)
    centres = np.linspace(0.1, 0.9, len(OXIDES))
    bands = np.exp(-(((wl - centres[:, None]) / 0.09) ** 2))
    absorb = recipe @ bands + 0.1 * (recipe[:, :1] * recipe[:, 1:2])
    spectrum = np.exp(-absorb) + rng.normal(0, 0.01, (n, WAVELENGTHS))
    return spectrum.astype("float32"), np.log1p(recipe)


def make_model(width):
    return keras.Sequential(
        [keras.Input((WAVELENGTHS,))]
        + [layers.Dense(width, activation="relu") for _ in range(3)]
        + [layers.Dense(len(OXIDES))]
    )


class Workshop:
    def __init__(self, strategy, width, lr):
        self.strategy = strategy
        with strategy.scope():
            self.model = make_model(width)
            self.opt = keras.optimizers.Adam(lr)
            self.opt.build(self.model.trainable_variables)

    def replica_step(self, x, y, global_batch):
        with tf.GradientTape() as tape:
            err = tf.reduce_mean(tf.square(self.model(x, training=True) - y), -1)
            loss = tf.reduce_sum(err) / global_batch
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.model.trainable_variables))
        return loss

    @tf.function
    def train_epoch(self, dataset, global_batch):
        total, count = 0.0, 0.0
        for x, y in dataset:
            losses = self.strategy.run(self.replica_step, args=(x, y, global_batch))
            total += self.strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)
            count += 1.0
        return total / count

    @tf.function
    def mae(self, x, y):
        return tf.reduce_mean(tf.abs(self.model(x) - y), 0)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--width", type=int, default=896)
    p.add_argument("--batches", type=int, nargs="+", default=[256, 512, 1024])
    p.add_argument("--epochs-each", type=int, default=3)
    args = p.parse_args()
    keras.utils.set_random_seed(14)
    strategy = tf.distribute.MirroredStrategy()
    print("replicas:", strategy.num_replicas_in_sync)
    x, y = glass(14336, seed=1)
    xv, yv = glass(1024, seed=2)
    shop = Workshop(strategy, args.width, 1e-3)
    epoch = 0
    for batch in args.batches:
        ds = (
            tf.data.Dataset.from_tensor_slices((x, y))
            .shuffle(4096, seed=5)
            .batch(batch)
            .prefetch(tf.data.AUTOTUNE)
        )
        ds = strategy.experimental_distribute_dataset(ds)
        for _ in range(args.epochs_each):
            t0 = time.time()
            loss = float(shop.train_epoch(ds, tf.constant(float(batch))))
            mae = shop.mae(xv, yv).numpy()
            print(
                f"epoch {epoch} batch {batch:5d} loss {loss:.5f} "
                f"worst oxide {OXIDES[int(mae.argmax())]} {mae.max():.4f} "
                f"({time.time() - t0:.1f}s)"
            )
            epoch += 1


if __name__ == "__main__":
    main()
