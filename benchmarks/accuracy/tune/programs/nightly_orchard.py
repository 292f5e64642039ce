"""Incremental training over an archive of leaf photos: one slice of the archive per 'night'."""

import argparse
import os
import shutil
import tempfile
import time

import numpy as np
import tensorflow as tf

ap = argparse.ArgumentParser()
ap.add_argument("--nights", type=int, default=20)
ap.add_argument("--batches_per_night", type=int, default=6)
ap.add_argument("--batch", type=int, default=32)
ap.add_argument("--side", type=int, default=64)
ap.add_argument("--shards", type=int, default=4)
args = ap.parse_args()
AUTO = tf.data.AUTOTUNE


def leaf(rng, label, side):
    yy, xx = np.mgrid[0:side, 0:side] / side - 0.5
    a = rng.uniform(0, np.pi)
    u, v = xx * np.cos(a) + yy * np.sin(a), -xx * np.sin(a) + yy * np.cos(a)
    body = ((u / 0.4) ** 2 + (v / (0.12 + 0.06 * label)) ** 2) < 1
    img = np.stack([60 + 25 * label * body, 70 + 110 * body, 60 + 10 * body], -1)
    return np.clip(img + rng.normal(0, 12, img.shape), 0, 255).astype("uint8")


def write_archive(root, total):
    rng = np.random.default_rng(2)
    per = total // args.shards
    for s in range(args.shards):
        with tf.io.TFRecordWriter(os.path.join(root, f"leaf-{s:03d}.tfrecord")) as w:
            for _ in range(per):
                y = int(rng.integers(0, 4))
                png = tf.io.encode_jpeg(leaf(rng, y, args.side * 2), quality=92).numpy()
                feat = {
                    "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[png])),
                    "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[y])),
                }
                w.write(
                    tf.train.Example(features=tf.train.Features(feature=feat)).SerializeToString()
                )


def parse(raw):
    ex = tf.io.parse_single_example(
        raw,
        {
            "image": tf.io.FixedLenFeature([], tf.string),
            "label": tf.io.FixedLenFeature([], tf.int64),
        },
    )
    img = tf.io.decode_jpeg(ex["image"], channels=3)
    img = tf.image.resize(
        tf.cast(img, tf.float32) / 255.0, [args.side, args.side], method="bicubic"
    )
    img = tf.image.random_flip_left_right(img)
    return tf.image.random_brightness(img, 0.1), ex["label"]


def archive(root):
    files = sorted(tf.io.gfile.glob(os.path.join(root, "*.tfrecord")))
    ds = tf.data.TFRecordDataset(files)
    ds = ds.map(parse, num_parallel_calls=AUTO)
    return ds.batch(args.batch, drop_remainder=True).prefetch(AUTO)


def build():
    L = tf.keras.layers
    return tf.keras.Sequential(
        [
            L.Input((args.side, args.side, 3)),
            L.Conv2D(16, 5, strides=2, activation="relu"),
            L.Conv2D(32, 3, strides=2, activation="relu"),
            L.Conv2D(48, 3, activation="relu"),
            L.GlobalMaxPooling2D(),
            L.Dense(4),
        ]
    )


def main():
    root = tempfile.mkdtemp(prefix="orchard_")
    try:
        t0 = time.time()
        write_archive(root, args.nights * args.batches_per_night * args.batch)
        print(f"archive written in {time.time() - t0:.1f}s -> {root}")

        model = build()
        opt = tf.keras.optimizers.Adam(1e-3)
        loss_obj = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        acc = tf.keras.metrics.SparseCategoricalAccuracy()

        @tf.function
        def train_step(x, y):
            with tf.GradientTape() as tape:
                logits = model(x, training=True)
                loss = loss_obj(y, logits)
            g = tape.gradient(loss, model.trainable_variables)
            opt.apply_gradients(zip(g, model.trainable_variables))
            acc.update_state(y, logits)
            return loss

        ds = archive(root)
        for night in range(args.nights):
            acc.reset_state()
            tic = time.time()
            tonight = ds.skip(night * args.batches_per_night).take(args.batches_per_night)
            losses = [train_step(x, y) for x, y in tonight]
            mean = float(tf.reduce_mean(losses))
            print(
                f"night {night:02d}: loss {mean:.4f} acc {float(acc.result()):.3f} "
                f"images {args.batch * len(losses)} ({time.time() - tic:.2f}s)"
            )
    finally:
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    main()
