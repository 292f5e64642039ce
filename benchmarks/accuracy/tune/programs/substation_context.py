# Day-ahead forecast of substation load: dilated convolutions, two training phases.
#   phase 1: one day of context
#   phase 2: three days of context, bigger batches, averaged weights, scored on the last weeks
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

SEED = 5
HORIZON = 24
STATIONS = 24
HOURS = 24 * 420
keras.utils.set_random_seed(SEED)


def synth_load():
    rng = np.random.default_rng(SEED)
    t = np.arange(HOURS)
    temp = 12 + 10 * np.sin(2 * np.pi * t / (24 * 365)) + 4 * np.sin(2 * np.pi * (t - 9) / 24)
    temp = temp + np.convolve(rng.normal(size=HOURS), np.ones(30) / 6, mode="same")
    series = []
    for _ in range(STATIONS):
        base = rng.uniform(20, 60)
        daily = rng.uniform(4, 12) * np.sin(2 * np.pi * (t - rng.integers(0, 24)) / 24)
        weekly = rng.uniform(1, 5) * (((t // 24) % 7) < 5)
        heating = rng.uniform(0.2, 0.9) * np.maximum(16 - temp, 0)
        series.append(base + daily + weekly + heating + rng.normal(scale=1.2, size=HOURS))
    load = np.stack(series, axis=1)
    load = (load - load.mean(0)) / load.std(0)
    clock = np.stack(
        [
            np.sin(2 * np.pi * t / 24),
            np.cos(2 * np.pi * t / 24),
            ((t // 24) % 7) / 6.0,
            (temp - temp.mean()) / temp.std(),
        ],
        axis=1,
    )
    return load.astype("float32"), clock.astype("float32")


def windows(load, clock, first, last, context, batch, training):
    flat, clock_t = tf.constant(load.reshape(-1)), tf.constant(clock)
    span = tf.range(context + HORIZON)

    def cut(pos):
        hour = pos[:, :1] + span
        both = tf.gather(flat, hour * STATIONS + pos[:, 1:])
        x = tf.concat([both[:, :context, None], tf.gather(clock_t, hour[:, :context])], axis=-1)
        return x, both[:, context:]

    starts = np.arange(first, last - context - HORIZON, 7)
    grid = np.stack(np.meshgrid(starts, np.arange(STATIONS), indexing="ij"), -1).reshape(-1, 2)
    ds = tf.data.Dataset.from_tensor_slices(grid.astype("int32"))
    if training:
        ds = ds.shuffle(len(grid), seed=SEED).repeat()
    ds = ds.batch(batch, drop_remainder=True)
    return ds.map(cut, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)


def build():
    inp = keras.Input((None, 5))
    h = layers.Dense(48)(inp)
    for d in (1, 2, 4, 8, 16):
        z = layers.Conv1D(48, 3, padding="causal", dilation_rate=d, activation="gelu")(h)
        z = layers.Conv1D(48, 1)(z)
        h = layers.LayerNormalization()(h + z)
    last = layers.Lambda(lambda q: q[:, -1])(h)
    both = layers.Concatenate()([last, layers.GlobalAveragePooling1D()(h)])
    return keras.Model(inp, layers.Dense(HORIZON)(layers.Dense(96, activation="gelu")(both)))


load, clock = synth_load()
split = int(HOURS * 0.88)
net = build()
net.summary(print_fn=lambda s: None)
optimizer = keras.optimizers.Adam(2e-3)
optimizer.build(net.trainable_variables)
averaged = [tf.Variable(v, trainable=False) for v in net.trainable_variables]
huber = keras.losses.Huber(0.8)

DAY = tf.TensorSpec([None, None, 5], tf.float32)
TARGET = tf.TensorSpec([None, HORIZON], tf.float32)


@tf.function(input_signature=[DAY, TARGET])
def learn(x, y):
    with tf.GradientTape() as tape:
        loss = huber(y, net(x, training=True))
    grads = tape.gradient(loss, net.trainable_variables)
    grads, norm = tf.clip_by_global_norm(grads, 2.0)
    optimizer.apply_gradients(zip(grads, net.trainable_variables))
    return loss, norm


@tf.function
def update_average(decay):
    for a, v in zip(averaged, net.trainable_variables):
        a.assign(decay * a + (1.0 - decay) * v)


@tf.function(input_signature=[DAY, TARGET])
def absolute_error(x, y):
    return tf.reduce_sum(tf.abs(net(x, training=False) - y), axis=0), tf.shape(y)[0]


def score(ds):
    total, count = np.zeros(HORIZON), 0
    for x, y in ds:
        err, n = absolute_error(x, y)
        total += err.numpy()
        count += int(n)
    return total / count


def with_average(fn):
    kept = [v.numpy() for v in net.trainable_variables]
    for v, a in zip(net.trainable_variables, averaged):
        v.assign(a)
    out = fn()
    for v, k in zip(net.trainable_variables, kept):
        v.assign(k)
    return out


print("== phase 1")
log = []
for step, (x, y) in enumerate(windows(load, clock, 0, split, 24, 64, True).take(900), 1):
    loss, norm = learn(x, y)
    if step % 50 == 0:
        log.append(float(loss))
        if step % 300 == 0:
            print(f"{step:5d} loss {np.mean(log[-6:]):.4f} norm {float(norm):.2f}")

print("== phase 2")
held_out = windows(load, clock, split, HOURS, 72, 256, False)
for v, a in zip(net.trainable_variables, averaged):
    a.assign(v)
optimizer.learning_rate.assign(8e-4)
decay = tf.constant(0.99)
for step, (x, y) in enumerate(windows(load, clock, 0, split, 72, 192, True).take(500), 1):
    loss, norm = learn(x, y)
    update_average(decay)
    if step % 50 == 0:
        log.append(float(loss))
    if step % 125 == 0:
        mae = with_average(lambda: score(held_out))
        print(
            f"{step:5d} loss {float(loss):.4f} held-out mae {mae.mean():.4f} (h+1 {mae[0]:.4f}, h+24 {mae[-1]:.4f})"
        )

net.save_weights("load_forecast.weights.h5")
