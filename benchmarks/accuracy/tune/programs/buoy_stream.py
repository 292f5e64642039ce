"""Online wave-height forecast from an array of buoys.

Readings arrive window by window.  A fixed random-feature front end turns the
raw signals into spectral features, a small recurrent cell carries the sea
state along, and the weights are updated after every window.
"""

import time

import keras
import numpy as np
import tensorflow as tf

BUOYS = 64
SAMPLES = 640
FEATURES = 96
STATE = 48
WINDOWS = 240


class Sea:
    """Swell and wind sea with slowly drifting height and period."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.height = 1.5
        self.period = 9.0
        self.clock = 0.0
        self.offset = self.rng.uniform(0, 2 * np.pi, size=(BUOYS, 1))

    def window(self):
        rng = self.rng
        self.height = np.clip(self.height + rng.normal() * 0.08, 0.4, 5.0)
        self.period = np.clip(self.period + rng.normal() * 0.1, 5.0, 14.0)
        t = self.clock + np.arange(SAMPLES) * 0.5
        self.clock = t[-1] + 0.5
        swell = np.sin(2 * np.pi * t / self.period + self.offset)
        chop = np.sin(2 * np.pi * t / 3.1 + 2 * self.offset)
        noise = rng.normal(size=(BUOYS, SAMPLES)) * 0.3
        wave = self.height * swell + 0.3 * self.height * chop + noise
        return wave.astype(np.float32), np.float32(self.height)


class FrontEnd:
    """Random filters and pooled energies; not trained."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        bank = rng.normal(size=(65, 1, FEATURES)) / 8.0
        mix = rng.normal(size=(13, FEATURES, FEATURES)) / 35.0
        self.bank = tf.constant(bank, tf.float32)
        self.mix = tf.constant(mix, tf.float32)

    @tf.function
    def __call__(self, wave):
        x = tf.nn.conv1d(wave[..., None], self.bank, 2, "SAME")
        x = tf.nn.relu(x)
        x = tf.nn.relu(tf.nn.conv1d(x, self.mix, 2, "SAME"))
        mean = tf.reduce_mean(x, axis=1)
        peak = tf.reduce_max(x, axis=1)
        return tf.math.log1p(tf.concat([mean, peak], axis=-1))


class SeaCell(tf.Module):
    """Minimal gated unit with a read-out for the next window."""

    def __init__(self, seed):
        super().__init__()
        g = tf.random.Generator.from_seed(seed)
        n = 2 * FEATURES + STATE
        self.gate = tf.Variable(g.normal([n, STATE]) * n**-0.5)
        self.cand = tf.Variable(g.normal([n, STATE]) * n**-0.5)
        self.bias = tf.Variable(tf.ones([STATE]))
        self.read = tf.Variable(g.normal([STATE, 1]) * STATE**-0.5)
        self.level = tf.Variable([1.0])

    @tf.function
    def __call__(self, features, state):
        joined = tf.concat([features, state], axis=-1)
        f = tf.sigmoid(tf.matmul(joined, self.gate) + self.bias)
        c = tf.concat([features, f * state], axis=-1)
        state = f * state + (1.0 - f) * tf.tanh(tf.matmul(c, self.cand))
        return tf.matmul(state, self.read)[:, 0] + self.level, state


def main():
    sea = Sea(seed=31)
    front = FrontEnd(seed=32)
    cell = SeaCell(seed=33)
    weights = list(cell.trainable_variables)
    optimizer = keras.optimizers.Adam(3e-3)
    optimizer.build(weights)
    state = tf.zeros([BUOYS, STATE])
    wave, _ = sea.window()
    errors, naive, last = [], [], None
    began = time.time()
    with tf.GradientTape(persistent=True) as tape:
        for n in range(WINDOWS):
            features = front(tf.constant(wave))
            guess, state = cell(features, state)
            wave, height = sea.window()
            loss = tf.reduce_mean(tf.square(guess - height))
            with tape.stop_recording():
                grads = tape.gradient(loss, weights)
                grads, _ = tf.clip_by_global_norm(grads, 1.0)
                optimizer.apply_gradients(zip(grads, weights))
            errors.append(abs(float(tf.reduce_mean(guess)) - height))
            naive.append(abs((last if last is not None else 1.0) - height))
            last = height
            if (n + 1) % 60 == 0:
                print(
                    f"window {n + 1:4d}  error {np.mean(errors[-60:]):.3f} m"
                    f"  naive {np.mean(naive[-60:]):.3f} m  "
                    f"{time.time() - began:.1f}s",
                    flush=True,
                )
    print(f"mean error of the second half: {np.mean(errors[WINDOWS // 2 :]):.3f} m")


if __name__ == "__main__":
    main()
