"""Vine growth stage from glasshouse camera stills, week after week.

The camera writes one set of stills a week; the classifier is carried from one
week to the next, as it'll be in the glasshouse (never seeing later weeks).
The stills are drawn from a small parametric plant model.
"""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

SEED = 7
WEEKS = 18
PER_WEEK = 480
BATCH = 32
SIZE = 40
LEAVES = 12
STAGES = 6

keras.utils.set_random_seed(SEED)


def season_log():
    """Leaf positions, spreads and tints of every still of the season."""
    rng = np.random.default_rng(SEED)
    n = WEEKS * PER_WEEK
    week = np.repeat(np.arange(WEEKS), PER_WEEK)
    vigour = week / WEEKS + rng.normal(0, 0.25, n)
    stage = np.clip((vigour * STAGES).astype(int), 0, STAGES - 1)
    centre = rng.uniform(0.1, 0.9, (n, LEAVES, 2))
    spread = (0.015 + 0.02 * (stage[:, None] + 1) / STAGES) * rng.uniform(0.7, 1.4, (n, LEAVES))
    alive = np.arange(LEAVES)[None, :] < (2 + stage * 1.5)[:, None]
    tint = rng.uniform(0.3, 1.0, (n, LEAVES, 3)) * [0.6, 1.0, 0.4]
    tint = tint * alive[:, :, None]
    return {
        "centre": centre.astype("float32"),
        "spread": spread.astype("float32"),
        "tint": tint.astype("float32"),
        "stage": stage.astype("int32"),
    }


axis = tf.linspace(0.0, 1.0, SIZE)
GRID_Y, GRID_X = tf.meshgrid(axis, axis, indexing="ij")


def draw(row):
    cy = row["centre"][:, 0, None, None]
    cx = row["centre"][:, 1, None, None]
    s = row["spread"][:, None, None]
    d2 = (GRID_Y - cy) ** 2 + (GRID_X - cx) ** 2
    blobs = tf.exp(-d2 / (2 * s * s))
    image = tf.einsum("lyx,lc->yxc", blobs, row["tint"])
    return tf.tanh(image), row["stage"]


def build():
    inp = keras.Input((SIZE, SIZE, 3))
    x = inp
    for width in (16, 32, 64):
        x = layers.Conv2D(width, 3, padding="same", use_bias=False)(x)
        x = layers.BatchNormalization()(x)
        x = layers.Activation("relu")(x)
        x = layers.MaxPooling2D()(x)
    x = layers.GlobalAveragePooling2D()(x)
    x = layers.Dropout(0.2, seed=SEED)(x)
    return keras.Model(inp, layers.Dense(STAGES)(x))


model = build()
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)

log = tf.data.Dataset.from_tensor_slices(season_log())
stills = log.map(draw, num_parallel_calls=tf.data.AUTOTUNE)

trace = []
for week in range(WEEKS):
    this_week = (
        stills.skip(week * PER_WEEK)
        .take(PER_WEEK)
        .shuffle(PER_WEEK, seed=week)
        .batch(BATCH)
        .prefetch(tf.data.AUTOTUNE)
    )
    h = model.fit(this_week, epochs=1, verbose=0)
    trace.append(h.history["accuracy"][-1])
    print(f"week {week:2d}  loss {h.history['loss'][-1]:.3f}  accuracy {trace[-1]:.3f}")

print("mean of the last four weeks:", np.mean(trace[-4:]))
