"""Predicts the water tension of bonsai substrates from sparse recipes (grain id, share) stored in TFRecord files.
Averaged weights are what counts; the batch doubles half-way."""

import argparse
import glob
import os
import tempfile
import time

import numpy as np
import tensorflow as tf

GRAINS = 400


def recipe(rng, worth):
    n = rng.integers(3, 9)
    ids = rng.choice(GRAINS, n, replace=False)
    share = rng.dirichlet(np.ones(n)).astype(np.float32)
    climate = rng.standard_normal(20).astype(np.float32)
    tension = (
        np.tanh((worth[ids] * share[:, None]).sum(0) @ climate[:6]) + 0.05 * rng.standard_normal()
    )
    feature = {
        "ids": tf.train.Feature(int64_list=tf.train.Int64List(value=ids)),
        "share": tf.train.Feature(float_list=tf.train.FloatList(value=share)),
        "climate": tf.train.Feature(float_list=tf.train.FloatList(value=climate)),
        "tension": tf.train.Feature(float_list=tf.train.FloatList(value=[tension])),
    }
    return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()


def store(folder, rng, shards=4, each=1500):
    worth = rng.normal(0, 1.5, (GRAINS, 6))
    for s in range(shards):
        with tf.io.TFRecordWriter(os.path.join(folder, f"bench-{s:02d}.tfrecord")) as w:
            for _ in range(each):
                w.write(recipe(rng, worth))


SPEC = {
    "ids": tf.io.VarLenFeature(tf.int64),
    "share": tf.io.VarLenFeature(tf.float32),
    "climate": tf.io.FixedLenFeature([20], tf.float32),
    "tension": tf.io.FixedLenFeature([1], tf.float32),
}


def parse(records):
    ex = tf.io.parse_example(records, SPEC)
    flat = tf.sparse.SparseTensor(
        tf.stack([ex["ids"].indices[:, 0], ex["ids"].values], 1),
        ex["share"].values,
        [ex["ids"].dense_shape[0], GRAINS],
    )
    dense = tf.sparse.to_dense(tf.sparse.reorder(flat))
    return tf.concat([tf.ensure_shape(dense, [None, GRAINS]), ex["climate"]], 1), ex["tension"]


def pipeline(files, batch, seed):
    rows = (
        tf.data.TFRecordDataset(files)
        .batch(1024)
        .map(parse, num_parallel_calls=2)
        .unbatch()
        .cache()
    )
    return (
        rows.shuffle(6000, seed=seed)
        .repeat()
        .batch(batch, drop_remainder=True)
        .prefetch(tf.data.AUTOTUNE)
    )


class Bench:
    def __init__(self, strategy, width):
        self.strategy = strategy
        with strategy.scope():
            L = tf.keras.layers
            self.net = tf.keras.Sequential(
                [
                    L.Input((GRAINS + 20,)),
                    L.Dense(width, activation="gelu"),
                    L.Dense(width, activation="gelu"),
                    L.Dense(width, activation="gelu"),
                    L.Dense(1),
                ]
            )
            self.opt = tf.keras.optimizers.SGD(0.02, momentum=0.9, use_ema=True, ema_momentum=0.98)
            self.opt.build(self.net.trainable_variables)

    def _one(self, x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.net(x) - y))
        v = self.net.trainable_variables
        self.opt.apply_gradients(zip(tape.gradient(loss, v), v))
        return loss

    @tf.function(reduce_retracing=True)
    def step(self, x, y):
        per_device = self.strategy.run(self._one, args=(x, y))
        return self.strategy.reduce(tf.distribute.ReduceOp.MEAN, per_device, axis=None)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--batch", type=int, default=256)
    p.add_argument("--updates", type=int, default=125, help="per phase")
    p.add_argument("--width", type=int, default=1024)
    p.add_argument("--seed", type=int, default=23)
    a = p.parse_args()
    tf.keras.utils.set_random_seed(a.seed)
    folder = tempfile.mkdtemp()
    store(folder, np.random.default_rng(a.seed))
    files = sorted(glob.glob(os.path.join(folder, "*.tfrecord")))
    strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
    bench = Bench(strategy, a.width)
    hold = next(iter(pipeline(files[-1:], 1024, 0)))
    begin = time.time()
    for phase, batch in enumerate([a.batch, 2 * a.batch]):
        feed = iter(
            strategy.experimental_distribute_dataset(pipeline(files[:-1], batch, phase + 1))
        )
        for u in range(a.updates):
            loss = bench.step(*next(feed))
            if (u + 1) % 25 == 0:
                test = tf.reduce_mean(tf.square(bench.net(hold[0]) - hold[1]))
                print(
                    f"batch {batch:4d} update {u + 1:3d} loss {float(loss):.4f} hold-out {float(test):.4f}"
                )
    bench.opt.finalize_variable_values(bench.net.trainable_variables)
    print("averaged weights %.4f" % float(tf.reduce_mean(tf.square(bench.net(hold[0]) - hold[1]))))
    print("done in %.1f s" % (time.time() - begin))


if __name__ == "__main__":
    main()
