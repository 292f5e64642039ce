"""Tide gauge forecasting with a GRU encoder and a per-horizon decoder."""

import collections
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import queue
import tempfile
import threading

import numpy as np
import tensorflow as tf

PAST, AHEAD, GAUGES = 72, 12, 8


def gauge_series(hours=9000, seed=2):
    rng = np.random.default_rng(seed)
    t = np.arange(hours)[:, None]
    phase = rng.uniform(0, 6.28, GAUGES)
    level = np.sin(t / 12.42 * 6.283 + phase) + 0.4 * np.sin(t / 24 * 6.283 + 2 * phase)
    return (level + rng.normal(0, 0.05, level.shape)).astype(np.float32)


class Forecaster(tf.keras.Model):
    def __init__(self, units=128, **kwargs):
        super().__init__(**kwargs)
        self.encoder = tf.keras.layers.GRU(units)
        self.mix = tf.keras.layers.Dense(128, activation="gelu")
        self.out = tf.keras.layers.Dense(AHEAD * GAUGES)

    def call(self, past):
        h = self.mix(self.encoder(past))
        return tf.reshape(self.out(h), (-1, AHEAD, GAUGES))


class RunLogger(threading.Thread):
    """Writes log lines from a queue, so that the loop itself never touches a file."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.lines = queue.Queue()
        self.path = path

    def run(self):
        with open(self.path, "w") as f:
            while True:
                line = self.lines.get()
                if line is None:
                    return
                f.write(line + "\n")
                f.flush()

    def close(self):
        self.lines.put(None)
        self.join()


class TideTrainer:
    def __init__(self, series, workdir, batch=64):
        self.model = Forecaster()
        self.optimizer = tf.keras.optimizers.Adam(2e-3)
        self.batch = batch
        self.lock = threading.Lock()
        self.recent = collections.deque(maxlen=200)
        self.log = RunLogger(os.path.join(workdir, "train.log"))
        self.log.start()
        split = len(series) - 1000
        self.train_data = self.windows(series[:split], training=True)
        held = next(iter(self.windows(series[split:], training=False)))
        self.held_past, self.held_future = held
        self.model(self.held_past)
        self.optimizer.build(self.model.trainable_variables)
        self.ckpt = tf.train.CheckpointManager(
            tf.train.Checkpoint(
                optimizer=self.optimizer, weights=list(self.model.trainable_variables)
            ),
            workdir,
            max_to_keep=2,
        )

    def windows(self, series, training):
        ds = tf.keras.utils.timeseries_dataset_from_array(
            series, None, PAST + AHEAD, batch_size=self.batch, shuffle=training, seed=1
        )
        ds = ds.map(lambda w: (w[:, :PAST], w[:, PAST:]))
        if training:
            ds = ds.repeat()
        return ds.prefetch(2)

    @tf.function
    def step(self, past, future):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.abs(self.model(past) - future))
        grads = tape.gradient(loss, self.model.trainable_variables)
        grads, norm = tf.clip_by_global_norm(grads, 1.0)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
        return loss, norm

    @tf.function
    def held_out_error(self):
        err = tf.abs(self.model(self.held_past) - self.held_future)
        return tf.reduce_mean(err, axis=(0, 2))

    def run(self, steps):
        for n, (past, future) in enumerate(self.train_data.take(steps), 1):
            loss, norm = self.step(past, future)
            with self.lock:
                self.recent.append(loss.numpy())
            self.log.lines.put(f"{n} {float(loss):.5f} {float(norm):.4f}")
            if n % 50 == 0:
                err = self.held_out_error().numpy()
                print(
                    f"step {n}  mean {np.mean(self.recent):.4f}  1h {err[0]:.4f}  12h {err[-1]:.4f}"
                )
            if n % 200 == 0:
                self.ckpt.save(checkpoint_number=n)
        self.log.close()


def main():
    tf.keras.utils.set_random_seed(17)
    with tempfile.TemporaryDirectory() as workdir:
        TideTrainer(gauge_series(), workdir).run(steps=560)


if __name__ == "__main__":
    main()
