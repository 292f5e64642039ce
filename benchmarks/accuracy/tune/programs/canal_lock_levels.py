"""Water level in a canal pound: encode three days, then roll the forecast out."""

import time

import numpy as np
import tensorflow as tf

PAST, AHEAD, CHANNELS = 36, 18, 4
BATCH = 64
STEPS = 700


def series(n=12000, seed=0):
    rng = np.random.default_rng(seed)
    t = np.arange(n)
    rain = np.maximum(rng.gamma(0.3, 1.0, n) - 0.6, 0)
    boats = np.maximum(np.sin(2 * np.pi * t / 24) + rng.normal(0, 0.2, n), 0)
    level = np.zeros(n)
    for i in range(1, n):
        level[i] = 0.96 * level[i - 1] + 0.3 * rain[i - 1] - 0.08 * boats[i - 1]
    level += rng.normal(0, 0.02, n)
    phase = np.cos(2 * np.pi * t / 24)
    x = np.stack([level, rain, boats, phase], 1)
    return ((x - x.mean(0)) / x.std(0)).astype(np.float32)


def windows(x, starts):
    past = np.stack([x[s : s + PAST] for s in starts])
    ahead = np.stack([x[s + PAST : s + PAST + AHEAD, :1] for s in starts])
    return past, ahead


class LevelModel(tf.keras.Model):
    def __init__(self, units=96):
        super().__init__()
        self.encode = tf.keras.layers.GRUCell(units)
        self.decode = tf.keras.layers.GRUCell(units)
        self.level = tf.keras.layers.Dense(1)

    def call(self, past):
        h = tf.zeros((tf.shape(past)[0], self.encode.units))
        for x in tf.unstack(past, num=PAST, axis=1):
            _, h = self.encode(x, h)
        y, out = past[:, -1, :1], []
        for _ in range(AHEAD):
            _, h = self.decode(y, h)
            y = y + self.level(h)
            out.append(y)
        return tf.stack(out, 1)


class Trainer:
    def __init__(self, model, opt):
        self.model, self.opt = model, opt
        self.best = float("inf")

    @tf.function
    def update(self, past, ahead):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.model(past) - ahead))
        grads = tape.gradient(loss, self.model.trainable_variables)
        grads, _ = tf.clip_by_global_norm(grads, 1.0)
        self.opt.apply_gradients(zip(grads, self.model.trainable_variables))
        return loss

    def error(self, past, ahead):
        miss = tf.abs(self.model(past) - ahead)
        return tf.reduce_mean(miss), tf.reduce_mean(miss[:, -1])

    def validate(self, held_out):
        pairs = [self.error(past, ahead) for past, ahead in held_out]
        mean = float(tf.reduce_mean([p[0] for p in pairs]))
        last = float(tf.reduce_mean([p[1] for p in pairs]))
        self.best = min(self.best, mean)
        return mean, last


def main():
    tf.keras.utils.set_random_seed(9)
    x = series()
    rng = np.random.default_rng(1)
    cut = 10000
    train = tf.data.Dataset.from_tensor_slices(windows(x, np.arange(0, cut - PAST - AHEAD)))
    feed = iter(train.shuffle(10000, seed=1).repeat().batch(BATCH, drop_remainder=True).prefetch(2))
    held = windows(x, rng.permutation(np.arange(cut, len(x) - PAST - AHEAD))[: 12 * BATCH])
    held_out = list(tf.data.Dataset.from_tensor_slices(held).batch(BATCH))

    trainer = Trainer(LevelModel(), tf.keras.optimizers.Adam(1e-3))
    trainer.model(held_out[0][0])
    trainer.opt.build(trainer.model.trainable_variables)
    began = time.time()
    for step in range(1, STEPS + 1):
        loss = trainer.update(*next(feed))
        if step % 35 == 0:
            mean, last = trainer.validate(held_out)
            print(
                f"{step}: loss {float(loss):.4f} val {mean:.4f} last hour {last:.4f} "
                f"best {trainer.best:.4f} ({time.time() - began:.0f}s)"
            )


if __name__ == "__main__":
    main()
