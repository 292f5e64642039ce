"""Keel shapes by an evolution strategy with restarts (IPOP): every restart doubles the population.

One generation = one call of the vectorised panel solver on the whole population.
"""

import time
from dataclasses import dataclass

import numpy as np
import tensorflow as tf


@dataclass
class Config:
    params: int = 20
    panels: int = 192
    base_population: int = 120
    restarts: int = 4
    generations: int = 14
    sigma: float = 0.35
    seed: int = 44


class PanelSolver:
    """Source panels on a closed section, three leeway angles, linear system per candidate."""

    def __init__(self, cfg):
        self.n = cfg.panels
        ang = np.linspace(0, 2 * np.pi, cfg.panels + 1, dtype=np.float32)
        self.cos, self.sin = tf.constant(np.cos(ang)), tf.constant(np.sin(ang))
        modes = np.stack(
            [
                np.cos((k // 2 + 1) * ang) if k % 2 == 0 else np.sin((k // 2 + 1) * ang)
                for k in range(cfg.params)
            ]
        )
        self.modes = tf.constant(
            (0.12 * modes / np.sqrt(1 + np.arange(cfg.params))[:, None]).astype(np.float32)
        )
        leeway = np.deg2rad(np.array([2.0, 4.0, 6.0], np.float32))
        self.stream = tf.constant(np.stack([np.cos(leeway), np.sin(leeway)]).astype(np.float32))

    def geometry(self, theta):
        radius = 1.0 + tf.tanh(theta @ self.modes) * 0.4
        return radius * self.cos, 0.18 * radius * self.sin

    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.float32)], autograph=False)
    def drag(self, theta=None):
        x, y = self.geometry(theta)
        mx, my = 0.5 * (x[:, 1:] + x[:, :-1]), 0.5 * (y[:, 1:] + y[:, :-1])
        tx, ty = x[:, 1:] - x[:, :-1], y[:, 1:] - y[:, :-1]
        length = tf.sqrt(tx**2 + ty**2 + 1e-8)
        nx, ny = ty / length, -tx / length
        rx = mx[:, :, None] - mx[:, None, :]
        ry = my[:, :, None] - my[:, None, :]
        r2 = rx**2 + ry**2 + 1e-4
        infl = (rx * nx[:, :, None] + ry * ny[:, :, None]) / r2 * length[:, None, :] / (2 * np.pi)
        a = infl + 0.5 * tf.eye(self.n)
        normal = tf.stack([nx, ny], -1)
        rhs = -tf.einsum("bpk,ka->bpa", normal, self.stream)
        strength = tf.linalg.solve(a, rhs)
        tang = (
            (rx * tx[:, :, None] + ry * ty[:, :, None])
            / r2
            * (length[:, None, :] / length[:, :, None])
        )
        speed = tf.einsum("bpk,ka->bpa", tf.stack([tx, ty], -1) / length[..., None], self.stream)
        speed += tf.matmul(tang, strength) / (2 * np.pi)
        cp = 1.0 - speed**2
        form = tf.reduce_mean(tf.nn.relu(-cp - 1.0), axis=[1, 2])
        area = tf.reduce_sum(0.5 * (x[:, 1:] * y[:, :-1] - x[:, :-1] * y[:, 1:]), axis=1)
        return form + 4.0 * (tf.abs(area) - 0.5) ** 2 + 0.05 * tf.reduce_sum(length, axis=1)


class Strategy:
    def __init__(self, cfg, population, rng):
        self.mean = rng.normal(0, 0.5, cfg.params)
        self.scale = np.full(cfg.params, cfg.sigma)
        self.population, self.rng = population, rng
        self.elite = population // 4
        w = np.log(self.elite + 0.5) - np.log(np.arange(1, self.elite + 1))
        self.weights = w / w.sum()

    def ask(self):
        self.z = self.rng.normal(size=(self.population, self.mean.size))
        return (self.mean + self.scale * self.z).astype(np.float32)

    def tell(self, candidates, cost):
        best = np.argsort(cost)[: self.elite]
        chosen = candidates[best].astype(np.float64)
        self.mean = self.weights @ chosen
        spread = np.sqrt(self.weights @ (chosen - self.mean) ** 2)
        self.scale = 0.7 * self.scale + 0.3 * 1.2 * spread


def main():
    cfg = Config()
    rng = np.random.default_rng(cfg.seed)
    solver = PanelSolver(cfg)
    champion, record = None, np.inf
    t0 = time.perf_counter()
    for restart in range(cfg.restarts):
        es = Strategy(cfg, cfg.base_population * 2**restart, rng)
        for gen in range(cfg.generations):
            cand = es.ask()
            cost = solver.drag(tf.constant(cand)).numpy()
            es.tell(cand, cost)
            if cost.min() < record:
                record, champion = float(cost.min()), cand[cost.argmin()].copy()
        print(f"restart {restart}: population {es.population}, best so far {record:.4f}")
    print("champion:", np.round(champion[:5], 3), f"({time.perf_counter() - t0:.1f} s)")


if __name__ == "__main__":
    main()
