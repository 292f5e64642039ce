"""Classify snail species from shell-click spectra, trained in daily rounds over one long survey."""

import argparse
import time

import tensorflow as tf

SPECIES = 6
BINS = 96
FRAMES = 24


def synth_clip(index):
    seed = tf.stack([tf.cast(index, tf.int32), 71])
    label = tf.random.stateless_uniform([], seed, 0, SPECIES, dtype=tf.int32)
    noise = tf.random.stateless_normal([FRAMES * BINS * 2], seed + 1)
    t = tf.linspace(0.0, 40.0, FRAMES * BINS * 2)
    tone = tf.sin(t * (3.0 + 2.0 * tf.cast(label, tf.float32)))
    wave = 0.8 * tone + noise
    spec = tf.abs(tf.signal.stft(wave, 2 * BINS - 2, BINS, fft_length=2 * BINS - 2))
    spec = tf.math.log1p(spec)[:FRAMES]
    return spec, label


class SurveyTrainer:
    def __init__(self, args):
        self.args = args
        self.model = self.build()
        self.opt = tf.keras.optimizers.Adam(1e-3)
        self.loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.acc = tf.keras.metrics.SparseCategoricalAccuracy()
        self.step = 0

    @staticmethod
    def build():
        return tf.keras.Sequential(
            [
                tf.keras.Input((FRAMES, BINS)),
                tf.keras.layers.Conv1D(128, 5, padding="same", activation="relu"),
                tf.keras.layers.Conv1D(128, 5, padding="same", activation="relu"),
                tf.keras.layers.GlobalMaxPooling1D(),
                tf.keras.layers.Dense(64, activation="relu"),
                tf.keras.layers.Dense(SPECIES),
            ]
        )

    def round_data(self, day):
        n = self.args.clips_per_day
        ds = tf.data.Dataset.range(self.args.days * n)
        ds = ds.map(synth_clip, num_parallel_calls=tf.data.AUTOTUNE)
        ds = ds.skip(day * n).take(n)
        ds = ds.shuffle(256).batch(self.args.batch, drop_remainder=True)
        return ds.prefetch(2)

    @tf.function
    def train_step(self, x, y):
        with tf.GradientTape() as tape:
            logits = self.model(x, training=True)
            loss = self.loss_fn(y, logits)
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.model.trainable_variables))
        self.acc.update_state(y, logits)
        return loss

    def run(self):
        for day in range(self.args.days):
            start = time.time()
            self.acc.reset_state()
            for x, y in self.round_data(day):
                loss = self.train_step(x, y)
                self.step += 1
            print(
                f"day {day:2d} step {self.step} loss {float(loss):.3f} "
                f"acc {float(self.acc.result()):.3f} {time.time() - start:.1f}s"
            )


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--days", type=int, default=16)
    p.add_argument("--clips-per-day", type=int, default=1280)
    p.add_argument("--batch", type=int, default=64)
    args = p.parse_args()
    tf.keras.utils.set_random_seed(4)
    SurveyTrainer(args).run()


if __name__ == "__main__":
    main()
