"""Self-supervised embeddings of tulip petal spectra; online stream of two noisy views."""

import dataclasses
import time

import numpy as np
import tensorflow as tf


@dataclasses.dataclass
class Setup:
    bands: int = 96
    batch: int = 128
    dim: int = 128
    hidden: int = 512
    updates: int = 600
    lam: float = 0.01
    seed: int = 31


class PetalStream:
    """Endless nursery conveyor: each batch shows new bulbs twice."""

    def __init__(self, cfg):
        self.rng = np.random.default_rng(cfg.seed)
        self.basis = self.rng.normal(size=(12, cfg.bands)).astype("float32")
        self.cfg = cfg

    def next(self):
        c = self.cfg
        latent = self.rng.standard_normal((c.batch, 12), dtype="float32")
        clean = np.tanh(latent @ self.basis / 3)
        noise = self.rng.standard_normal((2, c.batch, c.bands), dtype="float32")
        return clean + 0.2 * noise[0], clean + 0.2 * noise[1]


class Encoder(tf.Module):
    def __init__(self, cfg):
        super().__init__()
        g = tf.random.Generator.from_seed(cfg.seed)
        dims = [cfg.bands, cfg.hidden, cfg.hidden, cfg.dim]
        self.w = [tf.Variable(g.normal((i, o)) / i**0.5) for i, o in zip(dims, dims[1:])]
        self.b = [tf.Variable(tf.zeros(o)) for o in dims[1:]]

    def __call__(self, x):
        for w, b in zip(self.w[:-1], self.b[:-1]):
            x = tf.nn.relu(x @ w + b)
        return x @ self.w[-1] + self.b[-1]


class Atlas:
    """Centre of everything embedded so far, for the centring term."""

    def __init__(self, dim):
        self.pieces = []
        self.dim = dim

    def add(self, z):
        self.pieces.append(z)

    def centre(self):
        if not self.pieces:
            return tf.zeros(self.dim)
        return tf.reduce_mean(tf.concat(self.pieces, axis=0), axis=0)


class Breeder:
    def __init__(self, cfg):
        self.cfg = cfg
        self.net = Encoder(cfg)
        self.opt = tf.keras.optimizers.Adam(5e-4)
        self.opt.build(self.net.trainable_variables)
        self.atlas = Atlas(cfg.dim)

    @tf.function
    def update(self, a, b, centre):
        n = tf.cast(tf.shape(a)[0], tf.float32)
        with tf.GradientTape() as tape:
            raw = self.net(a)
            za = raw - centre
            zb = self.net(b) - centre
            za = za / (tf.math.reduce_std(za, 0) + 1e-4)
            zb = zb / (tf.math.reduce_std(zb, 0) + 1e-4)
            c = tf.matmul(za, zb, transpose_a=True) / n
            diag = tf.linalg.diag_part(c)
            off = tf.reduce_sum(c**2) - tf.reduce_sum(diag**2)
            loss = tf.reduce_sum((1 - diag) ** 2) + self.cfg.lam * off
        variables = self.net.trainable_variables
        grads = tape.gradient(loss, variables)
        self.opt.apply_gradients(zip(grads, variables))
        return loss, raw

    def train(self, stream):
        shown = 0.0
        for i in range(self.cfg.updates):
            a, b = stream.next()
            loss, z = self.update(tf.constant(a), tf.constant(b), self.atlas.centre())
            self.atlas.add(z)
            if (i + 1) % 150 == 0:
                shown = float(loss)
                print(f"bulbs {(i + 1) * self.cfg.batch:7d}  loss {shown:.3f}")
        return shown


def main():
    cfg = Setup()
    tf.random.set_seed(cfg.seed)
    breeder = Breeder(cfg)
    t0 = time.time()
    final = breeder.train(PetalStream(cfg))
    norm = float(tf.norm(breeder.atlas.centre()))
    print(f"done: loss {final:.3f}, centre norm {norm:.3f}, {time.time() - t0:.1f} s")


if __name__ == "__main__":
    main()
