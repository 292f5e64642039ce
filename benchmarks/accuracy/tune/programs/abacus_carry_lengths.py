"""Teach a GRU encoder/decoder to add numbers on an abacus with more and more rods.

The curriculum has three stages (4, 8 and 14 rods); one graph serves all of
them. Accuracy on held-out sums is looked at every 100 steps.
"""

import numpy as np
import tensorflow as tf

STAGES = [(4, 400), (8, 500), (14, 600)]
BATCH = 64
UNITS = 96


def sums(n, rods, rng):
    a = rng.integers(0, 10, (n, rods))
    b = rng.integers(0, 10, (n, rods))
    out = np.zeros((n, rods), "int32")
    carry = np.zeros(n, int)
    for t in range(rods):  # least significant rod first
        s = a[:, t] + b[:, t] + carry
        out[:, t] = s % 10
        carry = s // 10
    return np.stack([a, b], -1).astype("int32"), out


class Abacus(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.digit = tf.keras.layers.Embedding(10, 24)
        self.low = tf.keras.layers.GRU(UNITS, return_sequences=True)
        self.high = tf.keras.layers.GRU(UNITS, return_sequences=True)
        self.read = tf.keras.layers.Dense(10)

    def call(self, pairs):
        e = self.digit(pairs)
        x = tf.concat([e[:, :, 0], e[:, :, 1]], axis=-1)
        x = self.low(x)
        return self.read(x + self.high(x))


class Warmup(tf.keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, peak, warm, total):
        self.peak, self.warm, self.total = peak, warm, total

    def __call__(self, step):
        s = tf.cast(step, tf.float32)
        down = 0.5 * (1 + tf.cos(np.pi * tf.minimum(s / self.total, 1.0)))
        return self.peak * tf.minimum(s / self.warm, 1.0) * (0.1 + 0.9 * down)

    def get_config(self):
        return dict(peak=self.peak, warm=self.warm, total=self.total)


def main():
    tf.keras.utils.set_random_seed(31)
    rng = np.random.default_rng(31)
    total = sum(n for _, n in STAGES)
    model = Abacus()
    opt = tf.keras.optimizers.AdamW(Warmup(4e-3, 60, total), weight_decay=1e-5)
    model(np.zeros((1, 4, 2), "int32"))
    opt.build(model.trainable_variables)
    spec = [tf.TensorSpec([None, None, 2], tf.int32), tf.TensorSpec([None, None], tf.int32)]

    @tf.function(input_signature=spec)
    def step(pairs, digits):
        with tf.GradientTape() as tape:
            logits = model(pairs)
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=digits, logits=logits)
            )
        grads, _ = tf.clip_by_global_norm(tape.gradient(loss, model.trainable_variables), 1.0)
        opt.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    @tf.function(input_signature=spec)
    def correct(pairs, digits):
        guess = tf.argmax(model(pairs), -1, output_type=tf.int32)
        return tf.reduce_mean(tf.cast(guess == digits, tf.float32))

    n = 0
    for rods, steps in STAGES:
        test = sums(256, rods, np.random.default_rng(rods))
        pool = (
            tf.data.Dataset.from_tensor_slices(sums(8000, rods, rng))
            .shuffle(8000)
            .repeat()
            .batch(BATCH, drop_remainder=True)
            .prefetch(2)
        )
        print(f"--- {rods} rods")
        for pairs, digits in pool.take(steps):
            loss = step(pairs, digits)
            n += 1
            if n % 100 == 0:
                print(
                    f"step {n:4d}  loss {loss.numpy():.4f}  digits right {correct(*test).numpy():.3f}"
                )
    for rods in (4, 8, 14, 20):
        print(f"{rods:2d} rods: {correct(*sums(512, rods, rng)).numpy():.3f}")


if __name__ == "__main__":
    main()
