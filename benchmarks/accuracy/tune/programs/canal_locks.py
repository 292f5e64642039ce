"""Water level forecast before canal locks; windows get longer stage by stage."""

import argparse
import math

import keras
import numpy as np
from keras import layers, ops

p = argparse.ArgumentParser()
p.add_argument("--stages", type=int, nargs="+", default=[48, 96, 192])
p.add_argument("--epochs", type=int, nargs="+", default=[3, 3, 2])
p.add_argument("--batch", type=int, default=64)
p.add_argument("--channels", type=int, default=96)
p.add_argument("--seed", type=int, default=1761)
a = p.parse_args()
keras.utils.set_random_seed(a.seed)


def canal(n_hours=20000, n_locks=6):
    rng = np.random.default_rng(a.seed)
    t = np.arange(n_hours)
    base = np.stack(
        [
            np.sin(2 * np.pi * t / (24 + 3 * k)) + 0.5 * np.sin(2 * np.pi * t / 168 + k)
            for k in range(n_locks)
        ],
        axis=1,
    )
    boats = rng.poisson(0.3, base.shape)
    draw = -0.2 * boats + 0.15 * np.roll(boats, 1, axis=0)
    return (base + draw + rng.normal(0, 0.05, base.shape)).astype("float32")


class Windows(keras.utils.PyDataset):
    """Random windows of one length; target: the next level of every lock."""

    def __init__(self, series, length, batch, n_batches, seed, **kw):
        super().__init__(**kw)
        self.series, self.length, self.batch = series, length, batch
        self.n_batches = n_batches
        self.rng = np.random.default_rng(seed)
        self.on_epoch_end()

    def __len__(self):
        return self.n_batches

    def on_epoch_end(self):
        last = len(self.series) - self.length - 1
        self.start = self.rng.integers(0, last, (self.n_batches, self.batch))

    def __getitem__(self, i):
        idx = self.start[i][:, None] + np.arange(self.length + 1)[None]
        w = self.series[idx]
        return w[:, :-1], w[:, 1:]


class CausalBlock(layers.Layer):
    def __init__(self, channels, dilation):
        super().__init__()
        self.conv = layers.Conv1D(channels, 3, padding="causal", dilation_rate=dilation)
        self.mix = layers.Dense(channels)
        self.norm = layers.LayerNormalization()

    def build(self, shape):
        self.norm.build(shape)
        self.conv.build(shape)
        self.mix.build(shape)
        super().build(shape)

    def call(self, x):
        return x + self.mix(ops.relu(self.conv(self.norm(x))))


def forecaster(n_locks):
    inp = keras.Input((None, n_locks))
    x = layers.Dense(a.channels)(inp)
    for d in (1, 2, 4, 8):
        x = CausalBlock(a.channels, d)(x)
    return keras.Model(inp, layers.Dense(n_locks)(x))


series = canal()
cut = int(0.9 * len(series))
train, held = series[:cut], series[cut:]
model = forecaster(series.shape[1])
model.compile(keras.optimizers.AdamW(1e-3, weight_decay=1e-4), "mse", jit_compile=False)
print(f"{model.count_params()} weights")

for k, (length, epochs) in enumerate(zip(a.stages, a.epochs)):
    data = Windows(train, length, a.batch, n_batches=25, seed=k)
    h = model.fit(data, epochs=epochs, verbose=0, shuffle=False)
    print(f"stage {k}: {length} h windows, rmse {math.sqrt(h.history['loss'][-1]):.4f}")

test = Windows(held, a.stages[-1], a.batch, n_batches=6, seed=99)
print("held-out rmse", math.sqrt(model.evaluate(test, verbose=0)))
