"""Counts boxes on conveyor pictures in TFRecord files of two cameras."""

import os

import numpy as np
import tensorflow as tf

os.makedirs("records", exist_ok=True)
rng = np.random.default_rng(42)
CAMERAS = [("left", 48, 6), ("right", 640, 4)]


def picture(size, boxes):
    img = np.full((size, size, 3), 40, np.uint8)
    img += rng.integers(0, 30, img.shape, dtype=np.uint8)
    for _ in range(boxes):
        top, left = rng.integers(0, size * 3 // 4, 2)
        img[top : top + size // 8, left : left + size // 8] = rng.integers(120, 255, 3)
    return img


def example(img, boxes):
    png = tf.io.encode_png(img).numpy()
    feature = {
        "png": tf.train.Feature(bytes_list=tf.train.BytesList(value=[png])),
        "boxes": tf.train.Feature(int64_list=tf.train.Int64List(value=[boxes])),
    }
    return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()


for camera, size, shards in CAMERAS:
    several = [(picture(size, k % 6), k % 6) for k in range(24)]
    packed = [example(img, boxes) for img, boxes in several]
    for shard in range(shards):
        with tf.io.TFRecordWriter(f"records/{camera}-{shard:02d}.tfrecord") as out:
            for k in range(240 if camera == "left" else 120):
                out.write(packed[k % 24])


def parse(record):
    spec = {
        "png": tf.io.FixedLenFeature([], tf.string),
        "boxes": tf.io.FixedLenFeature([], tf.int64),
    }
    row = tf.io.parse_single_example(record, spec)
    img = tf.io.decode_png(row["png"], channels=3)
    img = tf.image.resize(img, (48, 48)) / 255.0
    return img, tf.one_hot(row["boxes"], 6)


files = sorted(tf.io.gfile.glob("records/*.tfrecord"))
dataset = tf.data.TFRecordDataset(files).map(parse).shuffle(64).batch(12).prefetch(2)

model = tf.keras.Sequential(
    [
        tf.keras.layers.Conv2D(12, 5, strides=2, activation="relu"),
        tf.keras.layers.Conv2D(24, 3, strides=2, activation="relu"),
        tf.keras.layers.Conv2D(24, 3, activation="relu"),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(6),
    ]
)
optimizer = tf.keras.optimizers.RMSprop(1e-3)
loss_fn = tf.keras.losses.CategoricalCrossentropy(from_logits=True)


@tf.function
def train_step(images, labels):
    with tf.GradientTape() as tape:
        loss = loss_fn(labels, model(images, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for number, (images, labels) in enumerate(dataset):
    loss = train_step(images, labels)
    if number % 20 == 0:
        tf.print("batch", number, "loss", loss)
