"""Estimate coral colony area from photo tiles; image size is raised in three stages."""

import time
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(9)
rng = np.random.default_rng(9)
N, FULL = 1600, 80

yy, xx = np.mgrid[0:FULL, 0:FULL].astype(np.float32) / FULL
photos = np.empty((N, FULL, FULL, 1), np.float32)
area = np.empty(N, np.float32)
for i in range(N):
    cx, cy = rng.uniform(0.25, 0.75, 2)
    r = rng.uniform(0.08, 0.3)
    ang = np.arctan2(yy - cy, xx - cx)
    rad = r * (1 + 0.25 * np.sin(rng.integers(3, 8) * ang + rng.uniform(0, 6)))
    inside = np.hypot(xx - cx, yy - cy) < rad
    area[i] = inside.mean() * 10
    photos[i, ..., 0] = inside * 0.6 + rng.normal(0, 0.3, (FULL, FULL))

model = tf.keras.Sequential(
    [
        tf.keras.Input((None, None, 1)),
        layers.Conv2D(16, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(64, 3, padding="same", activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(64, activation="relu"),
        layers.Dense(1),
    ]
)
opt = tf.keras.optimizers.AdamW(1e-3, weight_decay=1e-4)
opt.build(model.trainable_variables)
mae = tf.keras.metrics.MeanAbsoluteError()


@tf.function
def train_step(img, y):
    img = img + tf.random.normal(tf.shape(img), stddev=0.02)
    with tf.GradientTape() as tape:
        p = model(img, training=True)[:, 0]
        loss = tf.reduce_mean(tf.keras.losses.huber(y[:, None], p[:, None]))
    g = tape.gradient(loss, model.trainable_variables)
    g, _ = tf.clip_by_global_norm(g, 5.0)
    opt.apply_gradients(zip(g, model.trainable_variables))
    return loss


@tf.function
def eval_step(img, y):
    mae.update_state(y, model(img, training=False)[:, 0])


n_val = 160
for side, epochs, batch in [(32, 8, 64), (56, 6, 64), (80, 8, 64)]:
    small = tf.image.resize(photos, (side, side), antialias=True)  # once per stage
    tr = (
        tf.data.Dataset.from_tensor_slices((small[n_val:], area[n_val:]))
        .shuffle(N)
        .batch(batch, drop_remainder=True)
        .prefetch(2)
    )
    va = tf.data.Dataset.from_tensor_slices((small[:n_val], area[:n_val])).batch(80)
    print(f"--- {side}x{side}")
    for e in range(epochs):
        t0 = time.time()
        losses = [train_step(x, y) for x, y in tr]
        mae.reset_state()
        for x, y in va:
            eval_step(x, y)
        print(
            f"epoch {e}  loss {float(tf.reduce_mean(losses)):.4f}  val mae {float(mae.result()):.3f}  {time.time() - t0:.2f}s"
        )
