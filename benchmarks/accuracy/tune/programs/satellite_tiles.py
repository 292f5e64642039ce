"""Land-cover classification of small satellite tiles stored as JPEG in TFRecord shards."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras

TILE = 64
CLASSES = ["water", "forest", "crops", "urban", "bare"]
BATCH = 24
STEPS_PER_STAGE = 6
STAGES = 30
N_TILES = 1500


def synth_tile(label, rng):
    """A textured tile; every class has its own colour cast and spatial frequency."""
    yy, xx = np.mgrid[0:TILE, 0:TILE] / TILE
    freq = 2 + 3 * label
    phase = rng.uniform(0, 2 * np.pi)
    wave = np.sin(2 * np.pi * freq * (xx * np.cos(phase) + yy * np.sin(phase)))
    base = np.array(
        [[40, 70, 160], [30, 110, 40], [150, 150, 60], [130, 130, 135], [170, 130, 90]]
    )[label]
    img = base[None, None, :] + 35 * wave[..., None] + rng.normal(0, 30, (TILE, TILE, 3))
    return np.clip(img, 0, 255).astype(np.uint8)


def write_shards(folder, n_shards=3):
    rng = np.random.default_rng(5)
    paths = []
    for s in range(n_shards):
        path = os.path.join(folder, f"tiles-{s:02d}.tfrecord")
        with tf.io.TFRecordWriter(path) as out:
            for _ in range(N_TILES // n_shards):
                label = int(rng.integers(len(CLASSES)))
                jpeg = tf.io.encode_jpeg(synth_tile(label, rng), quality=92).numpy()
                feats = {
                    "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[jpeg])),
                    "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
                }
                out.write(
                    tf.train.Example(features=tf.train.Features(feature=feats)).SerializeToString()
                )
        paths.append(path)
    return paths


SPEC = {
    "image": tf.io.FixedLenFeature([], tf.string),
    "label": tf.io.FixedLenFeature([], tf.int64),
}


def parse(record):
    ex = tf.io.parse_single_example(record, SPEC)
    img = tf.io.decode_jpeg(ex["image"], channels=3)
    img = tf.image.convert_image_dtype(img, tf.float32)
    return tf.ensure_shape(img, (TILE, TILE, 3)), ex["label"]


def augment(img, label):
    img = tf.image.random_flip_left_right(img)
    img = tf.image.random_flip_up_down(img)
    img = tf.image.resize_with_crop_or_pad(img, TILE + 8, TILE + 8)
    img = tf.image.random_crop(img, (TILE, TILE, 3))
    img = tf.image.random_brightness(img, 0.15)
    return tf.image.random_saturation(img, 0.8, 1.2), label


def training_stream(paths):
    ds = tf.data.TFRecordDataset(paths).shuffle(500, seed=9).repeat()
    ds = ds.map(parse, num_parallel_calls=tf.data.AUTOTUNE)
    ds = ds.map(augment, num_parallel_calls=tf.data.AUTOTUNE)
    return ds.batch(BATCH, drop_remainder=True).prefetch(tf.data.AUTOTUNE)


def make_model():
    return keras.Sequential(
        [
            keras.Input((TILE, TILE, 3)),
            keras.layers.Conv2D(16, 3, strides=2, activation="relu"),
            keras.layers.Conv2D(32, 3, activation="relu"),
            keras.layers.MaxPooling2D(),
            keras.layers.Conv2D(48, 3, activation="relu"),
            keras.layers.GlobalAveragePooling2D(),
            keras.layers.Dropout(0.2),
            keras.layers.Dense(len(CLASSES)),
        ]
    )


def stage_lr(stage):
    return 2e-3 * 0.5 * (1 + np.cos(np.pi * stage / STAGES)) + 1e-5


def main():
    tf.random.set_seed(3)
    folder = tempfile.mkdtemp(prefix="tiles_")
    shards = write_shards(folder)
    train = training_stream(shards[:-1])
    val = tf.data.TFRecordDataset(shards[-1:]).map(parse).take(96).batch(48).cache()

    model = make_model()
    model.compile(
        optimizer=keras.optimizers.Adam(stage_lr(0)),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    history = []
    for stage in range(STAGES):
        model.optimizer.learning_rate.assign(stage_lr(stage))
        part = train.skip(stage * STEPS_PER_STAGE).take(STEPS_PER_STAGE)
        h = model.fit(part, epochs=1, validation_data=val, verbose=0)
        history.append(h.history["val_accuracy"][0])
        print(f"stage {stage:2d} loss {h.history['loss'][0]:.3f} val_acc {history[-1]:.3f}")
    print("best stage:", int(np.argmax(history)))


if __name__ == "__main__":
    main()
