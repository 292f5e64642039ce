"""Cloud masks from TFRecord files: parallel reading, a loop with checkpoints and evaluation."""

import argparse
import pathlib
import sys

import numpy as np
import tensorflow as tf


def write_records(folder, shards, per_shard):
    folder.mkdir(exist_ok=True)
    rng = np.random.default_rng(0)
    for shard in range(shards):
        with tf.io.TFRecordWriter(str(folder / f"part-{shard:03d}")) as out:
            for _ in range(per_shard):
                bands = rng.integers(0, 255, (16, 16, 4), dtype=np.uint8)
                mask = (bands[..., 3] > 120).astype(np.uint8)
                feature = {
                    name: tf.train.Feature(bytes_list=tf.train.BytesList(value=[a.tobytes()]))
                    for name, a in (("bands", bands), ("mask", mask))
                }
                row = tf.train.Example(features=tf.train.Features(feature=feature))
                out.write(row.SerializeToString())


def parse(rows):
    spec = {name: tf.io.FixedLenFeature([], tf.string) for name in ("bands", "mask")}
    row = tf.io.parse_example(rows, spec)
    bands = tf.reshape(tf.io.decode_raw(row["bands"], tf.uint8), [-1, 16, 16, 4])
    mask = tf.reshape(tf.io.decode_raw(row["mask"], tf.uint8), [-1, 16, 16, 1])
    return tf.cast(bands, tf.float32) / 255.0, tf.cast(mask, tf.float32)


def read(pattern, batch, training):
    files = tf.data.Dataset.list_files(pattern, shuffle=training)
    data = files.interleave(
        tf.data.TFRecordDataset, cycle_length=4, num_parallel_calls=2, deterministic=not training
    )
    if training:
        data = data.shuffle(512).repeat()
    return data.batch(batch, True).map(parse, tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)


def main(argv):
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("clouds"))
    parser.add_argument("--steps", type=int, default=1200)
    options = parser.parse_args(argv)
    write_records(options.data, 8, 200)
    train = read(str(options.data / "part-00[0-6]"), 24, True)
    test = read(str(options.data / "part-007"), 24, False)

    conv = tf.keras.layers.Conv2D
    net = tf.keras.Sequential(
        [
            tf.keras.Input((16, 16, 4)),
            conv(16, 3, padding="same", activation="relu"),
            conv(16, 3, padding="same", activation="relu"),
            conv(1, 1),
        ]
    )
    opt = tf.keras.optimizers.Adam(1e-3)
    seen = tf.Variable(0, dtype=tf.int64)
    manager = tf.train.CheckpointManager(
        tf.train.Checkpoint(net=net, opt=opt, seen=seen), "ckpt", max_to_keep=2
    )
    jaccard = tf.keras.metrics.BinaryIoU(threshold=0.5)

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            ce = tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=net(x, training=True))
            loss = tf.reduce_mean(ce)
        opt.apply_gradients(zip(tape.gradient(loss, net.trainable_weights), net.trainable_weights))
        seen.assign_add(1)
        return loss

    @tf.function
    def test_step(x, y):
        jaccard.update_state(y, tf.sigmoid(net(x)))

    for x, y in train.take(options.steps):
        loss = train_step(x, y)
        step = int(seen)
        if step % 200 == 0:
            jaccard.reset_state()
            for tx, ty in test:
                test_step(tx, ty)
            print(f"{step}: loss {float(loss):.4f}, IoU {float(jaccard.result()):.4f}")
        if step % 400 == 0:
            manager.save(step)


if __name__ == "__main__":
    main(sys.argv[1:])
