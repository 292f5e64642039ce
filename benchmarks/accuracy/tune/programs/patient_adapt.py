"""Glucose forecasts: a network for all patients is adapted to each new one before it is tested."""

import numpy as np
import tensorflow as tf

HISTORY, PATIENTS, INNER_STEPS, BATCH = 36, 200, 2, 32
rng = np.random.default_rng(50)


def patient(hours=300):
    rhythm, meal = rng.uniform(18, 30), rng.uniform(5, 9)
    t = np.arange(hours)
    glucose = 6 + 1.5 * np.sin(2 * np.pi * t / rhythm) + np.sin(2 * np.pi * t / meal)
    glucose = (glucose + rng.normal(0, 0.2, hours)).astype(np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(glucose, HISTORY + 1)
    return windows[:, :-1, None], windows[:, -1:]


network = tf.keras.Sequential(
    [
        tf.keras.Input((HISTORY, 1)),
        tf.keras.layers.Conv1D(32, 5, activation="swish"),
        tf.keras.layers.LayerNormalization(),
        tf.keras.layers.Conv1D(32, 5, activation="swish"),
        tf.keras.layers.LayerNormalization(),
        tf.keras.layers.Conv1D(32, 5, activation="swish"),
        tf.keras.layers.LayerNormalization(),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(64, activation="swish"),
        tf.keras.layers.Dense(1),
    ]
)


@tf.function
def gradients(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((network(x, training=True) - y) ** 2)
    return loss, tape.gradient(loss, network.trainable_variables)


@tf.function
def error(x, y):
    return tf.reduce_mean(tf.abs(network(x) - y))


pretrain = tf.keras.optimizers.Adam(1e-3)
for step in range(60):
    x, y = patient()
    rows = rng.integers(0, len(x), BATCH)
    loss, grads = gradients(tf.constant(x[rows]), tf.constant(y[rows]))
    pretrain.apply_gradients(zip(grads, network.trainable_variables))
print(f"population model: loss {float(loss):.3f}")

start = network.get_weights()
gains = []
for number in range(PATIENTS):
    x, y = patient()
    test = tf.constant(x[-64:]), tf.constant(y[-64:])
    before = float(error(*test))
    optimizer = tf.keras.optimizers.Adam(3e-3)
    for _ in range(INNER_STEPS):
        rows = rng.integers(0, len(x) - 64, BATCH)
        _, grads = gradients(tf.constant(x[rows]), tf.constant(y[rows]))
        optimizer.apply_gradients(zip(grads, network.trainable_variables))
    gains.append(before - float(error(*test)))
    network.set_weights(start)
    if number % 20 == 0:
        print(f"patient {number}: error {before:.3f}, {gains[-1]:+.3f} by adaptation")
print("mean gain", np.mean(gains))
