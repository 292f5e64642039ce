"""Coral, algae, sand or rock? Classifies quadrats of a reef survey."""

# %% imports
import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.keras import callbacks, layers, models

BATCH = 32
KINDS = ["coral", "algae", "sand", "rock"]
work = tempfile.mkdtemp(prefix="reef_")

# %% pictures
rng = np.random.default_rng(2024)


def quadrats(n):
    y = rng.integers(0, 4, n)
    grid = np.linspace(0, 1, 32)
    u, v = np.meshgrid(grid, grid)
    frequency = 4 + 6 * y[:, None, None]
    texture = np.sin(frequency * (u + rng.random((n, 1, 1)))) * np.cos(frequency * v)
    colour = np.eye(4)[y][:, None, None, :3] * 0.3
    x = 0.3 * texture[..., None] + colour + rng.normal(0, 0.35, (n, 32, 32, 3))
    return x.astype("float32"), y


x_train, y_train = quadrats(6400)
x_valid, y_valid = quadrats(2400)

train = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(6400).repeat()
train = train.batch(BATCH).prefetch(2)
valid = tf.data.Dataset.from_tensor_slices((x_valid, y_valid)).batch(BATCH)

# %% model
model = models.Sequential(
    [
        layers.Input((32, 32, 3)),
        layers.Conv2D(24, 3, activation="relu", padding="same"),
        layers.MaxPooling2D(),
        layers.Conv2D(48, 3, activation="relu", padding="same"),
        layers.MaxPooling2D(),
        layers.Conv2D(64, 3, activation="relu", padding="same"),
        layers.Flatten(),
        layers.Dense(256, activation="relu"),
        layers.Dropout(0.4),
        layers.Dense(4, activation="softmax"),
    ]
)
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.summary(line_length=80)

# %% training
keep = callbacks.ModelCheckpoint(os.path.join(work, "latest.keras"), save_freq=4)
history = model.fit(
    train,
    steps_per_epoch=20,
    epochs=20,
    validation_data=valid,
    callbacks=[keep],
    verbose=2,
)

# %% confusion
guess = model.predict(x_valid[:800], batch_size=200, verbose=0).argmax(1)
table = np.zeros((4, 4), int)
np.add.at(table, (y_valid[:800], guess), 1)
for kind, row in zip(KINDS, table):
    print(f"{kind:>6}", row)
