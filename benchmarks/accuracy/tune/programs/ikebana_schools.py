"""Metric learning of flower arrangements: same school close together, after running centring of the embedding."""

import argparse
import time

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

SCHOOLS = ["ikenobo", "ohara", "sogetsu", "koryu", "misho", "enshu"]


def arrangements(n, rng, dim=384):
    style = rng.normal(0, 1, (len(SCHOOLS), 24))
    mix = rng.normal(0, 0.3, (24, dim))
    y = rng.integers(0, len(SCHOOLS), n)
    latent = style[y] + rng.normal(0, 1.2, (n, 24))
    x = np.tanh(latent @ mix) + rng.normal(0, 0.2, (n, dim)) + 0.7
    return x.astype("float32"), y.astype("int32")


class Vase(tf.keras.Model):
    def __init__(self, width=448, out=288):
        super().__init__()
        self.blocks = []
        for i in range(3):
            self.blocks.append(layers.Dense(width, name=f"stem{i}"))
            self.blocks.append(layers.LayerNormalization())
            self.blocks.append(layers.Activation("gelu"))
        self.head = layers.Dense(out)

    def call(self, x):
        for b in self.blocks:
            x = b(x)
        return self.head(x)


def contrast(z, y, tau=0.2):
    z = tf.math.l2_normalize(z, -1)
    sim = tf.matmul(z, z, transpose_b=True) / tau
    n = tf.shape(y)[0]
    sim = sim - 1e9 * tf.eye(n)
    same = tf.cast(y[:, None] == y[None, :], tf.float32) * (1.0 - tf.eye(n))
    logp = tf.nn.log_softmax(sim, axis=1)
    return -tf.reduce_mean(tf.reduce_sum(same * logp, 1) / tf.maximum(tf.reduce_sum(same, 1), 1.0))


class RunningCentre:
    """Mean of everything the model has embedded since the beginning."""

    def __init__(self, dim):
        self.seen = []
        self.value = tf.zeros([dim])

    def update(self, z):
        self.seen.append(z)
        self.value = tf.reduce_mean(tf.concat(self.seen, axis=0), axis=0)
        return self.value


class Lesson:
    def __init__(self, args):
        self.model = Vase()
        schedule = tf.keras.optimizers.schedules.CosineDecay(1e-3, args.steps)
        self.opt = tf.keras.optimizers.AdamW(schedule, weight_decay=1e-4)
        self.centre = RunningCentre(288)

    @tf.function
    def _step(self, x, y, centre):
        with tf.GradientTape() as tape:
            z = self.model(x, training=True)
            loss = contrast(z - centre, y)
        w = self.model.trainable_variables
        grads, _ = tf.clip_by_global_norm(tape.gradient(loss, w), 5.0)
        self.opt.apply_gradients(zip(grads, w))
        return loss, z

    def step(self, x, y):
        loss, z = self._step(x, y, self.centre.value)
        self.centre.update(z)
        return loss


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--photos", type=int, default=9000)
    ap.add_argument("--batch", type=int, default=512)
    ap.add_argument("--steps", type=int, default=280)
    ap.add_argument("--report", type=int, default=40)
    args = ap.parse_args()
    tf.keras.utils.set_random_seed(5)
    rng = np.random.default_rng(5)
    x, y = arrangements(args.photos, rng)
    ds = (
        tf.data.Dataset.from_tensor_slices((x, y))
        .shuffle(args.photos, seed=5)
        .repeat()
        .batch(args.batch, drop_remainder=True)
        .prefetch(2)
    )
    lesson = Lesson(args)
    t0 = time.time()
    for i, (bx, by) in enumerate(ds.take(args.steps)):
        loss = lesson.step(bx, by)
        if (i + 1) % args.report == 0:
            print(
                f"step {i + 1}: contrast {float(loss):.4f}, "
                f"centre norm {float(tf.norm(lesson.centre.value)):.3f}"
            )
    print(f"training took {time.time() - t0:.2f} s")
    z = lesson.model(x[:1500]) - lesson.centre.value
    z = tf.math.l2_normalize(z, -1).numpy()
    d = z @ z.T - 2 * np.eye(len(z))
    print("nearest neighbour of the same school: %.3f" % np.mean(y[:1500][d.argmax(1)] == y[:1500]))


if __name__ == "__main__":
    main()
