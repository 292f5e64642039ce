"""Queue lengths at ferry slips, trained under a tf.distribute strategy (all GPUs if there are some)."""

import os
import tempfile

import numpy as np
import tensorflow as tf

WINDOW, AHEAD, SLIPS = 48, 6, 4
GLOBAL_BATCH = 64
EPOCHS = 14


def queues(hours=4200, seed=2):
    rng = np.random.default_rng(seed)
    t = np.arange(hours)
    q = np.zeros((hours, SLIPS), "float32")
    for s in range(SLIPS):
        day = 10 + 8 * np.sin(2 * np.pi * (t - 3 * s) / 24)
        week = 4 * ((t // 24) % 7 >= 5)
        burst = np.convolve(
            (rng.random(hours) < 0.03) * rng.uniform(5, 15, hours),
            np.exp(-np.arange(8) / 3),
            mode="same",
        )
        q[:, s] = np.maximum(0, day + week + burst + rng.normal(0, 1, hours))
    return (q - q.mean(0)) / q.std(0)


def datasets(series):
    n = len(series) - WINDOW - AHEAD
    idx = np.arange(n)[:, None]
    x = series[idx + np.arange(WINDOW)]
    y = series[idx + WINDOW + np.arange(AHEAD)].reshape(n, -1)
    cut = int(0.85 * n)
    train = (
        tf.data.Dataset.from_tensor_slices((x[:cut], y[:cut]))
        .shuffle(cut)
        .batch(GLOBAL_BATCH, drop_remainder=True)
        .prefetch(2)
    )
    valid = (
        tf.data.Dataset.from_tensor_slices((x[cut:], y[cut:]))
        .batch(GLOBAL_BATCH, drop_remainder=True)
        .prefetch(2)
    )
    return train, valid


def build():
    inp = tf.keras.Input((WINDOW, SLIPS))
    x = inp
    for d in (1, 2, 4, 8):
        h = tf.keras.layers.Conv1D(64, 3, padding="causal", dilation_rate=d, activation="relu")(x)
        h = tf.keras.layers.Dropout(0.1)(h)
        h = tf.keras.layers.Conv1D(64, 3, padding="causal", dilation_rate=d)(h)
        x = tf.keras.layers.Conv1D(64, 1)(x) + h
    x = tf.keras.layers.LayerNormalization()(x[:, -1])
    return tf.keras.Model(inp, tf.keras.layers.Dense(AHEAD * SLIPS)(x))


def pick_strategy():
    gpus = tf.config.list_logical_devices("GPU")
    if len(gpus) > 1:
        return tf.distribute.MirroredStrategy()
    return tf.distribute.OneDeviceStrategy("/GPU:0" if gpus else "/CPU:0")


def main():
    tf.keras.utils.set_random_seed(2)
    strategy = pick_strategy()
    train, valid = datasets(queues())
    train = strategy.experimental_distribute_dataset(train)
    valid = strategy.experimental_distribute_dataset(valid)

    with strategy.scope():
        model = build()
        opt = tf.keras.optimizers.Adam(1e-3)
        opt.build(model.trainable_variables)
        ckpt = tf.train.Checkpoint(model=model)

    def replica_train(batch):
        x, y = batch
        with tf.GradientTape() as tape:
            err = tf.reduce_mean(tf.abs(model(x, training=True) - y), axis=1)
            loss = tf.nn.compute_average_loss(err, global_batch_size=GLOBAL_BATCH)
        grads = tape.gradient(loss, model.trainable_variables)
        opt.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    def replica_test(batch):
        x, y = batch
        err = tf.reduce_mean(tf.abs(model(x, training=False) - y), axis=1)
        return tf.nn.compute_average_loss(err, global_batch_size=GLOBAL_BATCH)

    @tf.function
    def train_step(batch):
        return strategy.reduce("SUM", strategy.run(replica_train, args=(batch,)), axis=None)

    @tf.function
    def test_step(batch):
        return strategy.reduce("SUM", strategy.run(replica_test, args=(batch,)), axis=None)

    best = np.inf
    with tempfile.TemporaryDirectory() as tmp:
        for epoch in range(EPOCHS):
            losses = [train_step(b) for b in train]
            val = float(tf.reduce_mean([test_step(b) for b in valid]))
            print(
                f"epoch {epoch} mae {float(tf.reduce_mean(losses)):.4f} val {val:.4f}", flush=True
            )
            if val < best:
                best = val
                ckpt.write(os.path.join(tmp, "best"))
        ckpt.read(os.path.join(tmp, "best"))
    print("best validation mae", best)


if __name__ == "__main__":
    main()
