"""PARAFAC of fluorescence cubes from amber and copal resin samples (excitation x emission x sample).

Alternating least squares, full batch: a sweep updates the three factor matrices once.
The number of components goes up as soon as the fit stops improving (CORCONDIA style search).
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import tensorflow as tf


def build_cube(n_ex, n_em, n_samples, rank, rng):
    ex = np.linspace(0, 1, n_ex)[:, None]
    em = np.linspace(0, 1, n_em)[:, None]
    a = np.exp(-(((ex - rng.uniform(0.1, 0.7, rank)) / rng.uniform(0.05, 0.15, rank)) ** 2))
    b = np.exp(-(((em - rng.uniform(0.3, 0.9, rank)) / rng.uniform(0.05, 0.15, rank)) ** 2))
    c = rng.gamma(2.0, 1.0, (n_samples, rank))
    cube = np.einsum("ir,jr,kr->ijk", a, b, c)
    cube += 0.02 * rng.normal(size=cube.shape)
    return cube.astype(np.float32)


class Parafac(tf.Module):
    def __init__(self, cube, ridge=1e-4):
        super().__init__()
        self.dims = cube.shape
        i, j, k = self.dims
        self.unfold0 = tf.constant(cube.reshape(i, j * k))
        self.unfold1 = tf.constant(cube.transpose(1, 0, 2).reshape(j, i * k))
        self.unfold2 = tf.constant(cube.transpose(2, 0, 1).reshape(k, i * j))
        self.energy = tf.reduce_sum(self.unfold0**2)
        self.ridge = ridge

    @staticmethod
    def khatri_rao(u, v):
        r = tf.shape(u)[1]
        return tf.reshape(u[:, None, :] * v[None, :, :], [-1, r])

    def solve(self, unfolded, u, v):
        gram = tf.matmul(u, u, transpose_a=True) * tf.matmul(v, v, transpose_a=True)
        gram += self.ridge * tf.eye(tf.shape(gram)[0])
        rhs = tf.matmul(unfolded, self.khatri_rao(u, v))
        return tf.transpose(tf.linalg.solve(gram, tf.transpose(rhs))), rhs, gram

    @tf.function(input_signature=[tf.TensorSpec([None, None])] * 3)
    def sweep(self, a, b, c):
        a, _, _ = self.solve(self.unfold0, b, c)
        b, _, _ = self.solve(self.unfold1, a, c)
        b = b / (tf.norm(b, axis=0) + 1e-9)
        a = a / (tf.norm(a, axis=0) + 1e-9)
        c, rhs, gram = self.solve(self.unfold2, a, b)
        cross = tf.reduce_sum(rhs * c)
        model = tf.reduce_sum(tf.matmul(c, c, transpose_a=True) * gram)
        return a, b, c, 1.0 - (self.energy - 2.0 * cross + model) / self.energy


def widen(factors, rng, by=1):
    out = []
    for f in factors:
        fresh = np.abs(rng.normal(size=(f.shape[0], by))).astype(np.float32)
        out.append(tf.concat([f, fresh / np.float32(np.linalg.norm(fresh))], axis=1))
    return out


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--shape", type=int, nargs=3, default=(200, 220, 800))
    p.add_argument("--true-rank", type=int, default=9)
    p.add_argument("--start-rank", type=int, default=2)
    p.add_argument("--sweeps", type=int, default=300)
    p.add_argument("--patience-gain", type=float, default=5e-4)
    p.add_argument("--seed", type=int, default=31)
    args = p.parse_args()
    rng = np.random.default_rng(args.seed)
    tf.random.set_seed(args.seed)
    model = Parafac(build_cube(*args.shape, args.true_rank, rng))
    factors = [
        tf.constant(np.abs(rng.normal(size=(d, args.start_rank))).astype(np.float32))
        for d in args.shape
    ]
    last, waited = -1.0, 0
    tic = time.time()
    for sweep in range(args.sweeps):
        *factors, fit = model.sweep(*factors)
        fit = float(fit)
        waited += 1
        if waited >= 20 and fit - last < args.patience_gain and factors[0].shape[1] < 16:
            print(f"sweep {sweep:3d}: rank {factors[0].shape[1]} explains {fit:.5f}")
            factors = widen(factors, rng)
            waited = 0
        last = fit
    toc = time.time() - tic
    out = Path(tempfile.mkdtemp()) / "resin_factors.npz"
    np.savez(out, ex=factors[0].numpy(), em=factors[1].numpy(), sample=factors[2].numpy())
    print(f"final rank {factors[0].shape[1]}, explained {fit:.5f}, {toc:.2f} s -> {out.name}")


if __name__ == "__main__":
    main()
