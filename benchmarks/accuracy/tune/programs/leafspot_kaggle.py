# %% [markdown]
# # Leaf spot severity - baseline CNN
# Notebook exported to a script. The competition archive (`train_64.npz`) holds
# uint8 images and the class of each; here it is generated so that the script
# can be run anywhere.

# %%
import os
import shutil
import tempfile
import time

import keras
import numpy as np
from keras import layers

SEED = 1234
IMG = 64
N_IMAGES = 2600
N_CLASSES = 4
BATCH = 32
EPOCHS = 2
LR = 1e-3

keras.utils.set_random_seed(SEED)
WORKDIR = tempfile.mkdtemp(prefix="leafspot_")


# %%
def make_archive(path, n, rng):
    """Green-ish leaves with a number of brown spots that depends on the class."""
    yy, xx = np.mgrid[0:IMG, 0:IMG].astype(np.float32)
    labels = rng.integers(0, N_CLASSES, n)
    images = np.empty((n, IMG, IMG, 3), np.uint8)
    for i in range(n):
        base = np.array([60, 140, 50], np.float32) + rng.normal(0, 12, 3)
        img = base[None, None] + 18 * np.sin(xx / rng.uniform(4, 9) + yy / 11)[..., None]
        for _ in range(int(labels[i]) * 2 + 1):
            cy, cx, r = rng.uniform(6, IMG - 6, 2).tolist() + [rng.uniform(2, 5)]
            mask = ((yy - cy) ** 2 + (xx - cx) ** 2 < r * r)[..., None]
            img = np.where(mask, np.array([120, 80, 30], np.float32), img)
        img += rng.integers(-10, 11, (IMG, IMG, 1))
        images[i] = np.clip(img, 0, 255).astype(np.uint8)
    np.savez_compressed(path, images=images, labels=labels.astype(np.int64))


ARCHIVE = os.path.join(WORKDIR, "train_64.npz")
t0 = time.time()
make_archive(ARCHIVE, N_IMAGES, np.random.default_rng(SEED))
print(f"archive: {os.path.getsize(ARCHIVE) / 1e6:.1f} MB, {time.time() - t0:.1f}s")


# %%
class LeafSequence(keras.utils.PyDataset):
    """Batches of (image, label) for a subset of the rows of the archive."""

    def __init__(self, archive, rows, batch_size, augment=False, seed=0, **kwargs):
        super().__init__(**kwargs)
        self.data = np.load(archive)
        self.labels = self.data["labels"]
        self.rows = np.array(rows)
        self.batch_size = batch_size
        self.augment = augment
        self.rng = np.random.default_rng(seed)

    def __len__(self):
        return len(self.rows) // self.batch_size

    def __getitem__(self, index):
        rows = self.rows[index * self.batch_size : (index + 1) * self.batch_size]
        x = self.data["images"][rows].astype(np.float32) / 255.0
        y = self.labels[rows]
        if self.augment:
            flip = self.rng.random(len(x)) < 0.5
            x[flip] = x[flip, :, ::-1]
            x *= self.rng.uniform(0.85, 1.15, (len(x), 1, 1, 1)).astype(np.float32)
        return x, y

    def on_epoch_end(self):
        if self.augment:
            self.rng.shuffle(self.rows)


# %%
order = np.random.default_rng(SEED).permutation(N_IMAGES)
n_val = N_IMAGES // 10
train_seq = LeafSequence(ARCHIVE, order[n_val:], BATCH, augment=True, seed=SEED)
val_seq = LeafSequence(ARCHIVE, order[:n_val], BATCH)
print(f"{len(train_seq)} training batches, {len(val_seq)} validation batches")


# %%
def build_model():
    inp = keras.Input((IMG, IMG, 3))
    x = layers.Conv2D(24, 3, strides=2, padding="same", activation="relu")(inp)
    for width in (32, 48, 64):
        skip = layers.Conv2D(width, 1, padding="same")(x)
        x = layers.SeparableConv2D(width, 3, padding="same", use_bias=False)(x)
        x = layers.BatchNormalization(momentum=0.9)(x)
        x = layers.Activation("relu")(x)
        x = layers.SeparableConv2D(width, 3, padding="same")(x)
        x = layers.add([x, skip])
        x = layers.MaxPooling2D()(x)
    x = layers.GlobalAveragePooling2D()(x)
    x = layers.Dropout(0.2)(x)
    out = layers.Dense(N_CLASSES, activation="softmax")(x)
    return keras.Model(inp, out)


model = build_model()
model.compile(
    optimizer=keras.optimizers.AdamW(
        keras.optimizers.schedules.CosineDecay(LR, EPOCHS * len(train_seq)), weight_decay=1e-4
    ),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)

# %%
history = model.fit(
    train_seq,
    validation_data=val_seq,
    epochs=EPOCHS,
    verbose=2,
    callbacks=[
        keras.callbacks.ModelCheckpoint(
            os.path.join(WORKDIR, "best.weights.h5"),
            monitor="val_accuracy",
            save_best_only=True,
            save_weights_only=True,
        )
    ],
)

# %%
print("best val accuracy:", max(history.history["val_accuracy"]))
shutil.rmtree(WORKDIR, ignore_errors=True)
