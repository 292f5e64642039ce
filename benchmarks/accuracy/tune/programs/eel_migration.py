"""Where will the tagged eels be?  Causal filters over acoustic receiver tracks.

Curriculum: the tracks shown get longer, the batches smaller, and now and then
the route is checked on eels that were kept back.
"""

import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf

CHANNELS = 5


def tracks(n, length, rng):
    steps = rng.normal(0, 0.3, (n, length + 1, 2))
    drift = rng.normal(0, 0.25, (n, 1, 2))
    tide = np.sin(np.arange(length + 1) / 6.2)[None, :, None]
    place = np.cumsum(steps + drift * (1 + 0.5 * tide), 1)
    x = np.concatenate(
        [
            np.diff(place, axis=1),
            np.broadcast_to(tide[:, :-1], (n, length, 1)),
            rng.normal(size=(n, length, 2)),
        ],
        -1,
    ).astype("float32")
    y = (place[:, 1:] - place[:, :-1]).astype("float32")
    y[:, :-1] = y[:, 1:]
    return x, y


class Route(tf.keras.Model):
    def __init__(self, units):
        super().__init__()
        self.past = [
            tf.keras.layers.Conv1D(units, 5, padding="causal", activation="relu") for _ in range(4)
        ]
        self.mix = tf.keras.layers.Dense(units, activation="tanh")
        self.out = tf.keras.layers.Dense(2)

    def call(self, x):
        for layer in self.past:
            x = layer(x)
        return self.out(self.mix(x))


class Voyage:
    def __init__(self, units, rate):
        self.net = Route(units)
        self.net(tf.zeros((1, 2, CHANNELS)))
        self.opt = tf.keras.optimizers.Adam(rate)
        self.opt.build(self.net.trainable_variables)

    @tf.function(
        input_signature=[tf.TensorSpec((None, None, CHANNELS)), tf.TensorSpec((None, None, 2))]
    )
    def learn(self, x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.net(x) - y))
        grads = tape.gradient(loss, self.net.trainable_variables)
        grads, norm = tf.clip_by_global_norm(grads, 1.0)
        self.opt.apply_gradients(zip(grads, self.net.trainable_variables))
        return loss, norm

    @tf.function(
        input_signature=[tf.TensorSpec((None, None, CHANNELS)), tf.TensorSpec((None, None, 2))]
    )
    def check(self, x, y):
        return tf.reduce_mean(tf.abs(self.net(x) - y))


def stage_plan(args):
    for length, batch, rounds in ((20, 512, 40), (40, 384, 40), (80, 256, 40), (160, 128, 40)):
        yield min(length, args.length), batch, rounds


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--eels", type=int, default=3000)
    ap.add_argument("--length", type=int, default=160)
    ap.add_argument("--units", type=int, default=96)
    ap.add_argument("--rate", type=float, default=2e-3)
    args = ap.parse_args()
    tf.keras.utils.set_random_seed(606)
    rng = np.random.default_rng(606)
    x, y = tracks(args.eels, args.length, rng)
    back = 128
    hx, hy = tf.constant(x[:back]), tf.constant(y[:back])
    x, y = x[back:], y[back:]
    voyage = Voyage(args.units, args.rate)
    history = []
    for length, batch, rounds in stage_plan(args):
        for r in range(rounds):
            pick = rng.integers(0, len(x), batch)
            loss, norm = voyage.learn(x[pick, :length], y[pick, :length])
            history.append((float(loss), float(norm)))
        miss = float(voyage.check(hx[:, :length], hy[:, :length]))
        mean = np.mean(history[-rounds:], 0)
        print(
            f"length {length:3d} batch {batch}: loss {mean[0]:.4f} norm {mean[1]:.3f} kept back {miss:.3f}"
        )
    print("updates", len(history))


if __name__ == "__main__":
    main()
