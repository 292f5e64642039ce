"""Soil laboratory panel from near-infrared spectra: eight properties, one shared trunk."""

import time
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.random.set_seed(21)
rng = np.random.default_rng(21)

PROPERTIES = ["clay", "sand", "org_c", "ph", "cec", "n_total", "k_avail", "moisture"]
BANDS = 350
BATCH = 64
EPOCHS = 3

n = 6400
latent = rng.normal(size=(n, 12)).astype("float32")
peaks = np.stack(
    [np.exp(-0.5 * ((np.arange(BANDS) - c) / 12.0) ** 2) for c in np.linspace(15, 335, 12)]
)
spectra = (latent @ peaks + 0.05 * rng.normal(size=(n, BANDS))).astype("float32")[..., None]
mix = rng.normal(size=(12, len(PROPERTIES)))
targets = np.tanh(latent @ mix / 3 + 0.2 * latent[:, :8] ** 2).astype("float32")
measured = (rng.random(targets.shape) > 0.25).astype("float32")  # labs skip some analyses

trunk = tf.keras.Sequential(
    [
        tf.keras.Input((BANDS, 1)),
        layers.Conv1D(32, 9, padding="same", activation="relu"),
        layers.AveragePooling1D(2),
        layers.Conv1D(48, 7, padding="same", activation="relu"),
        layers.AveragePooling1D(2),
        layers.Conv1D(64, 5, padding="same", activation="relu"),
        layers.GlobalAveragePooling1D(),
        layers.Dense(96, activation="relu"),
    ],
    name="trunk",
)
heads = [
    tf.keras.Sequential(
        [tf.keras.Input((96,)), layers.Dense(32, activation="relu"), layers.Dense(1)], name=p
    )
    for p in PROPERTIES
]

all_vars = trunk.trainable_variables + [v for h in heads for v in h.trainable_variables]
opt = tf.keras.optimizers.Adam(1e-3)
opt.build(all_vars)


@tf.function
def step(x, y, mask):
    with tf.GradientTape(persistent=True) as tape:
        z = trunk(x)
        losses = []
        for k, head in enumerate(heads):
            err = head(z)[:, 0] - y[:, k]
            losses.append(tf.reduce_sum(mask[:, k] * err**2) / (tf.reduce_sum(mask[:, k]) + 1.0))
    shared = [tf.zeros_like(v) for v in trunk.trainable_variables]
    own = []
    for loss, head in zip(losses, heads):
        g = tape.gradient(loss, trunk.trainable_variables + head.trainable_variables)
        shared = [a + b for a, b in zip(shared, g)]
        own += g[len(shared) :]
    opt.apply_gradients(zip(shared + own, all_vars))
    return tf.stack(losses)


ds = (
    tf.data.Dataset.from_tensor_slices((spectra[:-640], targets[:-640], measured[:-640]))
    .shuffle(6000, seed=1)
    .batch(BATCH, drop_remainder=True)
    .prefetch(2)
)

for epoch in range(EPOCHS):
    t0 = time.time()
    total = np.zeros(len(PROPERTIES))
    for i, (x, y, m) in enumerate(ds):
        total += step(x, y, m).numpy()
    z = trunk(spectra[-640:])
    rmse = [
        float(tf.sqrt(tf.reduce_mean((h(z)[:, 0] - targets[-640:, k]) ** 2)))
        for k, h in enumerate(heads)
    ]
    print(f"epoch {epoch}  {time.time() - t0:.1f}s")
    for p, l, r in zip(PROPERTIES, total / (i + 1), rmse):
        print(f"   {p:10s} train mse {l:.4f}  val rmse {r:.3f}")
