"""Full-waveform style inversion of a layered quarry wall from surface pulses.

L-BFGS written out by hand (ported from my old NumPy scripts), one iteration is
one call of the objective plus a short backtracking line search.
"""

import argparse
import time

import numpy as np
import tensorflow as tf


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--nx", type=int, default=700)
    p.add_argument("--nz", type=int, default=500)
    p.add_argument("--iters", type=int, default=110)
    p.add_argument("--shots", type=int, default=24)
    p.add_argument("--seed", type=int, default=17)
    return p.parse_args()


def true_wall(nx, nz, rng):
    depth = np.linspace(0, 1, nz)[:, None]
    along = np.linspace(0, 1, nx)[None, :]
    wall = 0.4 * np.sin(9 * depth + 2 * along) + 0.3 * (depth > 0.45 + 0.1 * np.sin(6 * along))
    for _ in range(6):
        cx, cz, r = rng.uniform(0.1, 0.9), rng.uniform(0.1, 0.9), rng.uniform(0.03, 0.08)
        wall = wall + 0.5 * np.exp(-((along - cx) ** 2 + (depth - cz) ** 2) / r**2)
    return wall.astype(np.float32)


class QuarryProblem:
    def __init__(self, cfg, rng):
        self.shape = (cfg.nz, cfg.nx)
        self.left = tf.constant(
            (rng.normal(size=(cfg.shots, cfg.nz)) / np.sqrt(cfg.nz)).astype(np.float32)
        )
        self.right = tf.constant(
            (rng.normal(size=(cfg.nx, cfg.shots)) / np.sqrt(cfg.nx)).astype(np.float32)
        )
        self.wall = true_wall(cfg.nx, cfg.nz, rng)
        self.rows = self.left @ tf.tanh(self.wall)
        self.cols = tf.tanh(self.wall) @ self.right

    @tf.function
    def value_and_grad(self, flat):
        with tf.GradientTape() as tape:
            tape.watch(flat)
            m = tf.reshape(flat, self.shape)
            r = tf.tanh(m)
            misfit = tf.reduce_sum((self.left @ r - self.rows) ** 2)
            misfit += tf.reduce_sum((r @ self.right - self.cols) ** 2)
            rough = tf.reduce_sum((m[1:] - m[:-1]) ** 2) + tf.reduce_sum(
                (m[:, 1:] - m[:, :-1]) ** 2
            )
            loss = misfit + 1e-3 * rough
        return loss, tape.gradient(loss, flat)


class QuasiNewton:
    """Two-loop recursion, Nocedal & Wright algorithm 7.4."""

    def __init__(self, problem, x0):
        self.problem = problem
        self.x = x0
        self.s, self.y, self.rho = [], [], []
        self.f, self.g = problem.value_and_grad(x0)

    def direction(self):
        q = self.g
        alphas = []
        for s, y, rho in zip(reversed(self.s), reversed(self.y), reversed(self.rho)):
            a = rho * tf.tensordot(s, q, 1)
            q = q - a * y
            alphas.append(a)
        if self.s:
            q = (
                q
                * tf.tensordot(self.s[-1], self.y[-1], 1)
                / tf.tensordot(self.y[-1], self.y[-1], 1)
            )
        for s, y, rho, a in zip(self.s, self.y, self.rho, reversed(alphas)):
            b = rho * tf.tensordot(y, q, 1)
            q = q + s * (a - b)
        return -q

    def step(self):
        d = self.direction()
        slope = float(tf.tensordot(d, self.g, 1))
        t = 1.0 if self.s else 0.02
        for _ in range(8):
            x_new = self.x + t * d
            f_new, g_new = self.problem.value_and_grad(x_new)
            if float(f_new) <= float(self.f) + 1e-4 * t * slope:
                break
            t *= 0.5
        s, y = x_new - self.x, g_new - self.g
        curvature = tf.tensordot(s, y, 1)
        if float(curvature) > 1e-10:
            self.s.append(s)
            self.y.append(y)
            self.rho.append(1.0 / curvature)
        self.x, self.f, self.g = x_new, f_new, g_new
        return float(f_new)


def main():
    cfg = parse()
    rng = np.random.default_rng(cfg.seed)
    tf.random.set_seed(cfg.seed)
    problem = QuarryProblem(cfg, rng)
    solver = QuasiNewton(problem, tf.zeros([cfg.nx * cfg.nz]))
    print("start misfit %.4f, %d unknowns" % (float(solver.f), cfg.nx * cfg.nz))
    t0 = time.time()
    for it in range(cfg.iters):
        f = solver.step()
        if it % 25 == 0:
            print("iter %3d  misfit %.5f" % (it, f))
    err = np.mean((solver.x.numpy().reshape(problem.shape) - problem.wall) ** 2)
    print("final misfit %.5f, model rmse %.4f" % (solver.f, np.sqrt(err)))
    print("inversion took %.2f s" % (time.time() - t0))


if __name__ == "__main__":
    main()
