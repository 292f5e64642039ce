"""Unsupervised + supervised in turn: an autoencoder over radar strips of mangrove
coast and a biomass regressor on its code; every third round is a regressor round."""

import argparse
import time

import numpy as np
import tensorflow as tf

L = tf.keras.layers


class Mangrove:
    def __init__(self, length, code, lr):
        self.enc = tf.keras.Sequential(
            [
                tf.keras.Input((length, 2)),
                L.Conv1D(32, 9, strides=2, padding="same", activation="relu"),
                L.Conv1D(64, 9, strides=2, padding="same", activation="relu"),
                L.Conv1D(64, 5, strides=2, padding="same", activation="relu"),
                L.Flatten(),
                L.Dense(code),
            ]
        )
        self.dec = tf.keras.Sequential(
            [
                tf.keras.Input((code,)),
                L.Dense(length // 8 * 64, activation="relu"),
                L.Reshape((length // 8, 64)),
                L.Conv1DTranspose(64, 5, strides=2, padding="same", activation="relu"),
                L.Conv1DTranspose(32, 9, strides=2, padding="same", activation="relu"),
                L.Conv1DTranspose(2, 9, strides=2, padding="same"),
            ]
        )
        self.reg = tf.keras.Sequential(
            [tf.keras.Input((code,)), L.Dense(64, activation="relu"), L.Dense(1)]
        )
        self.opt_ae = tf.keras.optimizers.Adam(lr)
        self.opt_reg = tf.keras.optimizers.Adam(2 * lr)
        self.ae_vars = self.enc.trainable_variables + self.dec.trainable_variables
        self.reg_vars = self.reg.trainable_variables
        self.opt_ae.build(self.ae_vars)
        self.opt_reg.build(self.reg_vars)
        strips = tf.TensorSpec([None, None, length, 2], tf.float32)
        target = tf.TensorSpec([None, None], tf.float32)
        self.rebuild_round = tf.function(self.rebuild, input_signature=[strips])
        self.biomass_round = tf.function(self.biomass, input_signature=[strips, target])

    def rebuild(self, batches):
        total = 0.0
        for x in batches:
            with tf.GradientTape() as tape:
                noisy = x + tf.random.normal(tf.shape(x), stddev=0.1)
                loss = tf.reduce_mean(tf.square(self.dec(self.enc(noisy)) - x))
            self.opt_ae.apply_gradients(zip(tape.gradient(loss, self.ae_vars), self.ae_vars))
            total += loss
        return total / tf.cast(tf.shape(batches)[0], tf.float32)

    def biomass(self, xs, ys):
        total = 0.0
        count = tf.shape(xs)[0]
        for i in tf.range(count):
            code = self.enc(xs[i])
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(self.reg(code)[:, 0] - ys[i]))
            self.opt_reg.apply_gradients(zip(tape.gradient(loss, self.reg_vars), self.reg_vars))
            total += loss
        return total / tf.cast(count, tf.float32)


def coast(n, length, rng):
    t = np.linspace(0, 8, length)
    dense = rng.uniform(0.2, 2, n)
    tall = rng.uniform(0.5, 3, n)
    hh = np.sin(t * dense[:, None] * 3 + rng.uniform(0, 6, (n, 1))) * tall[:, None] / 3
    hv = np.cos(t * dense[:, None] + tall[:, None])
    x = np.stack([hh, hv], -1) + rng.normal(0, 0.1, (n, length, 2))
    return x.astype("float32"), (dense * tall - 1.9).astype("float32")


def draw(rng, n, inner, batch):
    return rng.integers(0, n, (inner, batch))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--rounds", type=int, default=36)
    ap.add_argument("--inner", type=int, default=30)
    ap.add_argument("--batch", type=int, default=64)
    ap.add_argument("--length", type=int, default=256)
    ap.add_argument("--seed", type=int, default=8)
    a = ap.parse_args()
    tf.keras.utils.set_random_seed(a.seed)
    rng = np.random.default_rng(a.seed)
    x, y = coast(3000, a.length, rng)
    xv, yv = coast(256, a.length, rng)
    m = Mangrove(a.length, 16, 1e-3)
    begin = time.time()
    for r in range(a.rounds):
        # from the second half on the rounds are longer
        inner = a.inner if r < a.rounds // 2 else a.inner * 2
        idx = draw(rng, len(x), inner, a.batch)
        if r % 3 == 2:
            loss = m.biomass_round(tf.constant(x[idx]), tf.constant(y[idx]))
            kind = "biomass"
        else:
            loss = m.rebuild_round(tf.constant(x[idx]))
            kind = "rebuild"
        if r % 6 >= 4:
            print(f"round {r:3d} {kind} {float(loss):.4f}")
    pred = m.reg(m.enc(xv))[:, 0].numpy()
    print(f"rmse {np.sqrt(np.mean((pred - yv) ** 2)):.3f}")
    print(f"train_seconds {time.time() - begin:.2f}")


if __name__ == "__main__":
    main()
