"""Online recogniser of cicada broods from a stream of microphone clips.

Every tick brings a handful of new clips per station; the last few thousand
stay in a window from which the small convolutional net is refreshed.
"""

import collections
import dataclasses
import gc
import time

import numpy as np
import tensorflow as tf


@dataclasses.dataclass
class Clip:
    station: str
    when: float
    wave: np.ndarray
    brood: int
    notes: dict


@dataclasses.dataclass
class Settings:
    ticks: int = 45
    arrivals: int = 96
    window: int = 3000
    batch: int = 400
    samples: int = 512
    broods: int = 6
    seed: int = 17


class Forest:
    """Makes clips: brood-dependent chirps in wind."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.rng = np.random.default_rng(cfg.seed)
        self.t = np.arange(cfg.samples, dtype="float32") / cfg.samples
        self.pitch = self.rng.uniform(20, 90, cfg.broods)
        self.pulse = self.rng.uniform(2, 9, cfg.broods)
        self.clock = 0.0

    def listen(self, n):
        out = []
        for brood in self.rng.integers(0, self.cfg.broods, n):
            self.clock += float(self.rng.exponential(0.3))
            phase = self.rng.uniform(0, 6.28)
            wave = np.sin(6.28 * self.pitch[brood] * self.t + phase)
            wave *= np.sin(6.28 * self.pulse[brood] * self.t) > 0
            wave += 0.6 * self.rng.standard_normal(self.cfg.samples)
            out.append(
                Clip(
                    f"st{self.rng.integers(40)}",
                    self.clock,
                    wave.astype("float32"),
                    int(brood),
                    {"wind": 3.1, "tags": ["raw"]},
                )
            )
        return out


class ClipWindow:
    def __init__(self, limit):
        self.limit = limit
        self.clips = collections.deque()
        self.by_station = collections.defaultdict(collections.Counter)

    def admit(self, clips):
        for c in clips:
            self.clips.append(c)
            self.by_station[c.station][c.brood] += 1
        while len(self.clips) > self.limit:
            old = self.clips.popleft()
            self.by_station[old.station][old.brood] -= 1
        self.tidy()

    def tidy(self):
        freed = gc.collect()
        return freed

    def draw(self, rng, n):
        picks = [self.clips[i] for i in rng.integers(0, len(self.clips), n)]
        return (
            np.stack([c.wave for c in picks])[..., None],
            np.array([c.brood for c in picks], "int32"),
        )


def build(cfg):
    L = tf.keras.layers
    return tf.keras.Sequential(
        [
            tf.keras.Input((cfg.samples, 1)),
            L.Conv1D(24, 9, strides=2, activation="relu"),
            L.Conv1D(32, 7, strides=2, activation="relu"),
            L.Conv1D(48, 5, strides=2, activation="relu"),
            L.GlobalAveragePooling1D(),
            L.Dense(cfg.broods),
        ]
    )


def main(cfg):
    tf.keras.utils.set_random_seed(cfg.seed)
    forest, window = Forest(cfg), ClipWindow(cfg.window)
    net = build(cfg)
    opt = tf.keras.optimizers.Adam(2e-3)
    lossfn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function(
        input_signature=[tf.TensorSpec((None, cfg.samples, 1)), tf.TensorSpec((None,), tf.int32)]
    )
    def refresh(x, y):
        with tf.GradientTape() as tape:
            logits = net(x, training=True)
            loss = lossfn(y, logits)
        opt.apply_gradients(
            zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables)
        )
        hit = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1, tf.int32), y), tf.float32))
        return loss, hit

    started = time.time()
    window.admit(forest.listen(400))
    for tick in range(cfg.ticks):
        window.admit(forest.listen(cfg.arrivals))
        for _ in range(3):
            x, y = window.draw(forest.rng, cfg.batch)
            loss, hit = refresh(tf.constant(x), tf.constant(y))
        if tick % 10 == 0:
            print(
                f"tick {tick} window {len(window.clips)} loss {float(loss):.3f} hit {float(hit):.2f}"
            )
    print(f"stream over after {time.time() - started:.2f} s")


if __name__ == "__main__":
    main(Settings())
