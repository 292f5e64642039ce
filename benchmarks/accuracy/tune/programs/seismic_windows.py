"""Picks first arrivals in seismograms; windows are filtered on the fly, then shuffled well."""

import numpy as np
import tensorflow as tf

TRACES, LENGTH, BATCH, EPOCHS = 2048, 400, 32, 11


def seismograms(seed=4):
    rng = np.random.default_rng(seed)
    arrival = rng.integers(80, 320, TRACES)
    trace = rng.normal(0, 0.3, (TRACES, LENGTH)).cumsum(axis=1) * 0.1
    trace += rng.normal(0, 0.2, trace.shape)
    time = np.arange(LENGTH)
    for row, start in zip(trace, arrival):
        after = np.clip(time - start, 0, None)
        row += np.sin(after * 0.6) * np.exp(-after / 60)
    return trace.astype("float32"), (arrival / LENGTH).astype("float32")


def band_pass(trace, arrival):
    """Removes the drift, keeps 1 to 40 Hz, and adds the envelope and an STA/LTA ratio."""
    padded = tf.pad(trace - tf.reduce_mean(trace), [[312, 312]])
    energies = []
    for low, high in ((8, 64), (64, 160), (160, 320)):
        spectrum = tf.signal.rfft(padded)
        k = tf.range(513)
        keep = tf.cast((k >= low) & (k < high), tf.complex64)
        energies.append(tf.signal.irfft(spectrum * keep)[312:712])
    band = tf.stack(energies, axis=-1)
    frames = tf.signal.frame(tf.square(tf.pad(band, [[50, 49], [0, 0]])), 100, 1, axis=0)
    long_term = tf.reduce_mean(frames, axis=1)
    short_term = tf.reduce_mean(frames[:, 45:55], axis=1)
    return tf.concat([band, short_term / (long_term + 1e-3)], axis=-1), arrival


traces, arrivals = seismograms()
dataset = tf.data.Dataset.from_tensor_slices((traces, arrivals))
dataset = dataset.map(band_pass, num_parallel_calls=2)
dataset = dataset.shuffle(buffer_size=1600)
dataset = dataset.batch(BATCH, drop_remainder=True)
dataset = dataset.prefetch(tf.data.AUTOTUNE)

model = tf.keras.Sequential(
    [
        tf.keras.Input((LENGTH, 6)),
        tf.keras.layers.Conv1D(32, 7, padding="same", activation="relu"),
        tf.keras.layers.MaxPooling1D(2),
        tf.keras.layers.Conv1D(48, 7, padding="same", activation="relu"),
        tf.keras.layers.MaxPooling1D(2),
        tf.keras.layers.Conv1D(64, 7, padding="same", activation="relu"),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(1, activation="sigmoid"),
    ]
)
optimizer = tf.keras.optimizers.Nadam(5e-4)
loss_fn = tf.keras.losses.Huber(delta=0.05)
error = tf.keras.metrics.MeanAbsoluteError()


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        picked = model(x, training=True)[:, 0]
        loss = loss_fn(y, picked)
    grads = tape.gradient(loss, model.trainable_weights)
    optimizer.apply_gradients(zip(grads, model.trainable_weights))
    error.update_state(y, picked)
    return loss


for epoch in range(EPOCHS):
    error.reset_state()
    for x, y in dataset:
        loss = train_step(x, y)
    print(f"Epoch {epoch + 1}: mean error {float(error.result()) * LENGTH:.1f} samples")
