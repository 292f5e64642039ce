# %% [markdown]
# # Seedlings: progressive resizing and unfreezing
# %%
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import tempfile

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(2024)
rng = np.random.default_rng(2024)
FULL = 48
N_TRAIN, N_VALID, N_CLASSES = 2400, 480, 6

# %%
# leaves: class = number of leaves
yy, xx = np.mgrid[-1 : 1 : FULL * 1j, -1 : 1 : FULL * 1j].astype(np.float32)
radius, theta = np.hypot(xx, yy), np.arctan2(yy, xx)
labels = rng.integers(0, N_CLASSES, N_TRAIN + N_VALID)
phase = rng.uniform(0, 2 * np.pi, len(labels)).astype(np.float32)
folder = tempfile.TemporaryDirectory()
shards = []
for s in range(6):
    shards.append(os.path.join(folder.name, f"seedlings-{s}.tfrecord"))
    with tf.io.TFRecordWriter(shards[-1]) as writer:
        for i in range(s, len(labels), 6):
            edge = 0.45 + 0.35 * np.cos((labels[i] + 2) * theta + phase[i])
            leaf = 1 / (1 + np.exp((radius - edge) * 25))
            image = leaf[..., None] * [0.3, 0.8, 0.2] + rng.uniform(0.1, 0.4, 3)
            image = image + rng.normal(0, 0.12, (FULL, FULL, 3))
            pixels = (np.clip(image, 0, 1) * 255).astype(np.uint8)
            feature = {
                "pixels": tf.train.Feature(bytes_list=tf.train.BytesList(value=[pixels.tobytes()])),
                "leaves": tf.train.Feature(int64_list=tf.train.Int64List(value=[int(labels[i])])),
            }
            writer.write(
                tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()
            )
print(len(labels), "pictures in", len(shards), "files")

# %%
spec = {
    "pixels": tf.io.FixedLenFeature([], tf.string),
    "leaves": tf.io.FixedLenFeature([], tf.int64),
}


def load(files, side, training):
    def parse(batch):
        row = tf.io.parse_example(batch, spec)
        image = tf.reshape(tf.io.decode_raw(row["pixels"], tf.uint8), [-1, FULL, FULL, 3])
        image = tf.image.resize(tf.cast(image, tf.float32) / 255.0, [side, side], antialias=True)
        return image, row["leaves"]

    ds = tf.data.Dataset.from_tensor_slices(files)
    ds = ds.interleave(tf.data.TFRecordDataset, cycle_length=5, num_parallel_calls=2)
    ds = ds.batch(128).map(parse, num_parallel_calls=2).unbatch().cache()
    if training:
        ds = ds.shuffle(N_TRAIN)
    return ds.batch(48).prefetch(2)


# %%
body = keras.Sequential(name="body")
body.add(keras.Input((None, None, 3)))
for filters in (16, 32, 48):
    body.add(layers.Conv2D(filters, 3, padding="same", activation="relu"))
    body.add(layers.BatchNormalization(momentum=0.8))
    body.add(layers.MaxPooling2D())
top = keras.Sequential(
    [
        layers.Conv2D(64, 3, padding="same", activation="relu"),
        layers.GlobalMaxPooling2D(),
        layers.Dropout(0.2),
        layers.Dense(N_CLASSES),
    ],
    name="top",
)
picture = keras.Input((None, None, 3))
model = keras.Model(picture, top(body(layers.RandomFlip("horizontal")(picture))))
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

# %%
# stage 1: small pictures, everything
model.compile(keras.optimizers.Adam(2e-3), loss, metrics=["accuracy"])
h = model.fit(
    load(shards[:5], 24, True), validation_data=load(shards[5:], 24, False), epochs=5, verbose=2
)

# %%
# stage 2: medium pictures, only the top, so that it gets used to the new scale
body.trainable = False
model.compile(keras.optimizers.Adam(1e-3), loss, metrics=["accuracy"])
h = model.fit(
    load(shards[:5], 32, True), validation_data=load(shards[5:], 32, False), epochs=3, verbose=2
)

# %%
# stage 3: whole pictures, the body thawed, gentle rate
body.trainable = True
model.compile(
    keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(8e-4, 4 * 50)),
    loss,
    metrics=["accuracy"],
)
h = model.fit(
    load(shards[:5], FULL, True),
    validation_data=load(shards[5:], FULL, False),
    epochs=4,
    verbose=2,
    callbacks=[keras.callbacks.EarlyStopping("val_loss", patience=2, restore_best_weights=True)],
)

# %%
print(f"final validation accuracy {max(h.history['val_accuracy']):.4f}")
folder.cleanup()
