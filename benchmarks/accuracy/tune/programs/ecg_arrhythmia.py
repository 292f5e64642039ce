# Arrhythmia detection on synthetic 2-lead ECG, plain eager TensorFlow so that it is easy to debug.
import math
import random

import numpy as np
import tensorflow as tf

FS = 250
SECONDS = 4
LENGTH = FS * SECONDS
BATCH = 48
STEPS = 200
RHYTHMS = ["normal", "bradycardia", "tachycardia", "irregular"]


def beat(t, center, amp):
    """P wave, QRS complex and T wave around one R peak."""
    out = 0.15 * np.exp(-(((t - center + 0.18) / 0.03) ** 2))
    out += amp * np.exp(-(((t - center) / 0.012) ** 2))
    out -= 0.25 * amp * np.exp(-(((t - center - 0.03) / 0.015) ** 2))
    out += 0.3 * np.exp(-(((t - center - 0.25) / 0.06) ** 2))
    return out


def recording(rng):
    label = int(rng.integers(len(RHYTHMS)))
    period = {0: 0.85, 1: 1.3, 2: 0.5, 3: 0.8}[label]
    t = np.arange(LENGTH) / FS
    lead = np.zeros(LENGTH)
    pos = rng.uniform(0, period)
    while pos < SECONDS + 0.3:
        lead += beat(t, pos, rng.uniform(0.9, 1.2))
        jitter = 0.35 if label == 3 else 0.03
        pos += period * (1 + rng.uniform(-jitter, jitter))
    wander = 0.1 * np.sin(2 * math.pi * 0.3 * t + rng.uniform(0, 6))
    leads = np.stack([lead + wander, 0.7 * lead - wander], axis=1)
    return (leads + rng.normal(0, 0.05, leads.shape)).astype(np.float32), label


def patients(n, seed):
    rng = np.random.default_rng(seed)
    records = [recording(rng) for _ in range(n)]

    def generate():
        order = random.Random(seed)
        while True:
            x, y = order.choice(records)
            yield x, y

    return generate


def dataset(n, seed):
    spec = (tf.TensorSpec((LENGTH, 2), tf.float32), tf.TensorSpec((), tf.int32))
    ds = tf.data.Dataset.from_generator(patients(n, seed), output_signature=spec)
    return ds.batch(BATCH).prefetch(2)


class DilatedBlock(tf.Module):
    def __init__(self, channels, dilation):
        super().__init__()
        self.conv = tf.keras.layers.Conv1D(
            channels, 7, padding="same", activation="relu", dilation_rate=dilation
        )
        self.point = tf.keras.layers.Conv1D(channels, 1)
        self.norm = tf.keras.layers.LayerNormalization()

    def __call__(self, x):
        return self.norm(x + self.point(self.conv(x)))


class RhythmNet(tf.Module):
    def __init__(self, channels=48):
        super().__init__()
        self.stem = tf.keras.layers.Conv1D(channels, 9, strides=4, padding="same")
        self.blocks = [DilatedBlock(channels, d) for d in (1, 2, 4)]
        self.out = tf.keras.layers.Dense(len(RHYTHMS))

    def __call__(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.out(tf.concat([tf.reduce_mean(x, 1), tf.reduce_max(x, 1)], axis=-1))

    def parameters(self):
        layers = [self.stem, self.out]
        for b in self.blocks:
            layers += [b.conv, b.point, b.norm]
        return [v for l in layers for v in l.trainable_variables]


def main():
    tf.keras.utils.set_random_seed(8)
    net = RhythmNet()
    train = iter(dataset(800, seed=1))
    check = [next(iter(dataset(200, seed=2)))]
    net(check[0][0])
    params = net.parameters()
    opt = tf.keras.optimizers.Adam(1e-3)
    smooth = None
    for step in range(1, STEPS + 1):
        x, y = next(train)
        with tf.GradientTape() as tape:
            logits = net(x)
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
            )
        opt.apply_gradients(zip(tape.gradient(loss, params), params))
        smooth = float(loss) if smooth is None else 0.95 * smooth + 0.05 * float(loss)
        if step % 20 == 0:
            xv, yv = check[0]
            guess = tf.argmax(net(xv), axis=1, output_type=tf.int32)
            acc = float(tf.reduce_mean(tf.cast(guess == yv, tf.float32)))
            print("step %4d | loss %.4f | held-out accuracy %.3f" % (step, smooth, acc))


if __name__ == "__main__":
    main()
