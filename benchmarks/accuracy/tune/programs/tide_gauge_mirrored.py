"""Water level from buoy readings under tf.distribute, with a smoothness penalty on the
input gradient every eighth step and an average of the weights for the evaluation."""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"

import time

import keras
import numpy as np
import tensorflow as tf
from keras import layers

BUOYS = 40
GLOBAL_BATCH = 512
PENALTY_EVERY = 8
PENALTY = 0.4
EPOCHS = 9


def sea_state(n, seed):
    fixed = np.random.default_rng(100)
    freq = fixed.uniform(0.3, 2.0, (6, BUOYS))
    offset = fixed.uniform(0, 2 * np.pi, (6, BUOYS))
    rng = np.random.default_rng(seed)
    t = rng.uniform(0, 60, (n, 6, 1))
    amplitude = rng.gamma(2.0, 0.3, (n, 6, 1))
    readings = (amplitude * np.sin(freq * t * 0.2 + offset)).sum(1)
    level = (
        np.tanh(readings[:, :8].mean(1))
        + 0.4 * np.abs(readings[:, 8:20].mean(1))
        + 0.2 * readings[:, 30]
    )
    noisy = readings + 0.05 * rng.normal(size=readings.shape)
    return noisy.astype(np.float32), level.astype(np.float32)[:, None]


strategy = tf.distribute.MirroredStrategy()

with strategy.scope():
    model = keras.Sequential(
        [
            keras.Input((BUOYS,)),
            layers.Dense(512, activation="gelu"),
            layers.Dense(512, activation="gelu"),
            layers.Dense(256, activation="gelu"),
            layers.Dense(1),
        ]
    )
    schedule = keras.optimizers.schedules.CosineDecay(2e-3, 9 * 78, alpha=0.02)
    optimizer = keras.optimizers.AdamW(schedule, use_ema=True, ema_momentum=0.98)


def per_example(x, y):
    return tf.reduce_sum(tf.square(model(x, training=True) - y), axis=-1)


def apply(tape, loss):
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))


def light_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.nn.compute_average_loss(per_example(x, y), global_batch_size=GLOBAL_BATCH)
    apply(tape, loss)
    return loss


def heavy_step(x, y):
    with tf.GradientTape() as tape:
        with tf.GradientTape() as inner:
            inner.watch(x)
            total = tf.reduce_sum(model(x, training=True))
        slope = inner.gradient(total, x)
        rough = tf.nn.compute_average_loss(
            tf.reduce_mean(tf.square(slope), axis=-1), global_batch_size=GLOBAL_BATCH
        )
        loss = tf.nn.compute_average_loss(per_example(x, y), global_batch_size=GLOBAL_BATCH)
        whole = loss + PENALTY_EVERY * PENALTY * rough
    apply(tape, whole)
    return loss


@tf.function
def train(x, y, heavy):
    if heavy:
        value = strategy.run(heavy_step, args=(x, y))
    else:
        value = strategy.run(light_step, args=(x, y))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, value, axis=None)


def random_batches(x, y):
    x, y = tf.constant(x), tf.constant(y)

    def draw(_):
        rows = tf.random.uniform([GLOBAL_BATCH], 0, len(x), tf.int32)
        return tf.gather(x, rows), tf.gather(y, rows)

    ds = tf.data.Dataset.range(len(x) // GLOBAL_BATCH).map(draw).prefetch(tf.data.AUTOTUNE)
    return strategy.experimental_distribute_dataset(ds)


@tf.function(reduce_retracing=True)
def squared_error(x, y):
    return tf.reduce_sum(tf.square(model(x, training=False) - y))


def main():
    keras.utils.set_random_seed(19)
    print("replicas:", strategy.num_replicas_in_sync)
    x_val, y_val = sea_state(4000, 2)
    train_set = random_batches(*sea_state(40_000, 1))
    valid_set = tf.data.Dataset.from_tensor_slices((x_val, y_val)).batch(1000)
    step = 0
    for epoch in range(EPOCHS):
        began, losses = time.perf_counter(), []
        for x, y in train_set:
            step += 1
            losses.append(train(x, y, step % PENALTY_EVERY == 0))
        mse = sum(float(squared_error(x, y)) for x, y in valid_set) / len(x_val)
        print(
            f"epoch {epoch + 1}/{EPOCHS}  train mse {np.mean(losses):.5f}  validation mse {mse:.5f}"
            f"  rate {float(schedule(step)):.5f}  {time.perf_counter() - began:.2f} s",
            flush=True,
        )
    optimizer.finalize_variable_values(model.trainable_variables)
    mse = sum(float(squared_error(x, y)) for x, y in valid_set) / len(x_val)
    print(f"averaged weights: validation mse {mse:.5f}, {step} steps")


if __name__ == "__main__":
    main()
