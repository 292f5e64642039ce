"""Bird songs as spectrogram pictures, one folder per species."""

import pathlib

import numpy as np
import tensorflow as tf

AUTOTUNE = tf.data.AUTOTUNE
ROOT = pathlib.Path("birds")
SPECIES = ["finch", "owl", "robin", "wren"]


def prepare():
    rng = np.random.default_rng(8)
    for label, name in enumerate(SPECIES):
        (ROOT / name).mkdir(parents=True, exist_ok=True)
        for k in range(180):
            img = rng.integers(0, 60, (200, 200, 3), dtype=np.uint8)
            img[40 * label : 40 * label + 20] += 90
            (ROOT / name / f"{k:04d}.png").write_bytes(tf.io.encode_png(img).numpy())


prepare()
pictures = tf.keras.utils.image_dataset_from_directory(
    ROOT, image_size=(200, 200), batch_size=12, seed=4
)


def to_features(images, labels):
    images = tf.image.rgb_to_grayscale(images) / 255.0
    smooth = tf.nn.avg_pool2d(images, 9, 1, "SAME")
    images = tf.image.resize(images - smooth, (40, 40), antialias=True)
    return images, labels


# an epoch of 50 batches is enough, there are a few more in the folder
train = pictures.map(to_features).cache().take(50).prefetch(AUTOTUNE)

model = tf.keras.Sequential(
    [
        tf.keras.layers.Input((40, 40, 1)),
        tf.keras.layers.Conv2D(8, 3, activation="relu"),
        tf.keras.layers.MaxPooling2D(),
        tf.keras.layers.Conv2D(16, 3, activation="relu"),
        tf.keras.layers.GlobalMaxPooling2D(),
        tf.keras.layers.Dense(4),
    ]
)
model.compile(
    optimizer="adam",
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(train, epochs=7, verbose=2)
