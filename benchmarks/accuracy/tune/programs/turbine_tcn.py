"""Wind turbines: a dilated convolutional net forecasts the next hour of power."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(3)
HISTORY, SENSORS, BATCH, STEPS = 64, 6, 32, 1200


def turbines(hours=20_000):
    t = np.arange(hours)
    wind = 8 + 3 * np.sin(t / 24) + 2 * np.sin(t / 163) + rng.normal(0, 0.6, hours)
    columns = [np.roll(wind, k) + rng.normal(0, 0.2, hours) for k in range(SENSORS - 1)]
    power = np.clip(wind, 3, 14) ** 3 / 2744
    return np.stack([*columns, power], axis=1).astype("float32")


class TemporalBlock(tf.keras.layers.Layer):
    def __init__(self, filters, dilation):
        super().__init__()
        self.conv = tf.keras.layers.Conv1D(
            filters, 3, padding="causal", dilation_rate=dilation, activation="relu"
        )
        self.skip = tf.keras.layers.Dense(filters)

    def call(self, x):
        return self.conv(x) + self.skip(x)


class TCN(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.blocks = [TemporalBlock(16, 2**k) for k in range(4)]
        self.head = tf.keras.layers.Dense(1)

    def call(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x[:, -1])


series = turbines()
model = TCN()
optimizer = tf.keras.optimizers.Adam(1e-3)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.keras.losses.huber(y, model(x, training=True)))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


def windows(starts):
    index = starts[:, None] + np.arange(HISTORY)
    return tf.constant(series[index]), tf.constant(series[starts + HISTORY, -1:])


losses = []
for step in range(STEPS):
    x, y = windows(rng.integers(0, len(series) - HISTORY - 1, BATCH))
    losses.append(train_step(x, y))
    mean_loss = tf.reduce_mean(tf.stack(losses))
    if step % 100 == 0:
        print(f"step {step:5d}  loss {losses[-1]:.4f}  mean so far {mean_loss:.4f}")
