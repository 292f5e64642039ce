"""Figures of sand on a driven plate: a physics-informed net.

Solves  lap(u) + k^2 u = f  on the unit square with u = 0 on the rim, for one
driven plate. Collocation points are added where the residual is largest, so
the cloud of points gets denser as the training goes on.
"""

from dataclasses import dataclass

import numpy as np
import tensorflow as tf


@dataclass
class Plate:
    wave_number: float = 5.0
    first_points: int = 256
    added_points: int = 160
    rounds: int = 8
    steps_per_round: int = 75
    rim_points: int = 128
    width: int = 48
    depth: int = 4
    lr: float = 2e-3
    seed: int = 8


def exact(xy):
    return np.sin(2 * np.pi * xy[:, :1]) * np.sin(np.pi * xy[:, 1:])


def rim(rng, n):
    along = rng.random((n, 1))
    side = rng.integers(0, 2, (n, 1)).astype(float)
    upright = rng.random((n, 1)) < 0.5
    return np.where(upright, np.hstack([side, along]), np.hstack([along, side])).astype(np.float32)


class SandNet(tf.Module):
    def __init__(self, plate):
        super().__init__()
        sizes = [2] + [plate.width] * plate.depth + [1]
        init = tf.keras.initializers.GlorotNormal(plate.seed)
        self.weights = [tf.Variable(init((a, b))) for a, b in zip(sizes, sizes[1:])]
        self.biases = [tf.Variable(tf.zeros(b)) for b in sizes[1:]]

    def __call__(self, xy):
        h = 2 * xy - 1
        for w, b in zip(self.weights[:-1], self.biases[:-1]):
            h = tf.sin(1.5 * (tf.matmul(h, w) + b))
        return tf.matmul(h, self.weights[-1]) + self.biases[-1]


POINTS = tf.TensorSpec([None, 2], tf.float32)


class Solver:
    def __init__(self, plate):
        self.plate = plate
        self.net = SandNet(plate)
        self.optimizer = tf.keras.optimizers.Adam(plate.lr)
        self.optimizer.build(self.net.trainable_variables)

    def residual(self, xy):
        x, y = xy[:, :1], xy[:, 1:]
        with tf.GradientTape() as outer_x, tf.GradientTape() as outer_y:
            outer_x.watch(x)
            outer_y.watch(y)
            with tf.GradientTape() as inner:
                inner.watch([x, y])
                u = self.net(tf.concat([x, y], 1))
            u_x, u_y = inner.gradient(u, [x, y])
        u_xx = outer_x.gradient(u_x, x)
        u_yy = outer_y.gradient(u_y, y)
        k2 = self.plate.wave_number**2
        shape = tf.sin(2 * np.pi * x) * tf.sin(np.pi * y)
        drive = (k2 - 5 * np.pi**2) * shape
        return u_xx + u_yy + k2 * u - drive

    @tf.function(input_signature=[POINTS, POINTS])
    def step(self, inside, edge):
        with tf.GradientTape() as tape:
            physics = tf.reduce_mean(tf.square(self.residual(inside)))
            walls = tf.reduce_mean(tf.square(self.net(edge)))
            loss = 0.01 * physics + 10.0 * walls
        variables = self.net.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return physics, walls

    @tf.function(input_signature=[POINTS])
    def size_of_residual(self, xy):
        return tf.abs(self.residual(xy))[:, 0]


def main(plate=Plate()):
    rng = np.random.default_rng(plate.seed)
    tf.random.set_seed(plate.seed)
    solver = Solver(plate)
    points = rng.random((plate.first_points, 2)).astype(np.float32)
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 41)] * 2), -1).reshape(-1, 2)
    grid = tf.constant(grid, tf.float32)
    truth = exact(grid.numpy())

    for number in range(plate.rounds):
        inside = tf.constant(points)
        for _ in range(plate.steps_per_round):
            physics, walls = solver.step(inside, tf.constant(rim(rng, plate.rim_points)))
        error = np.abs(solver.net(grid).numpy() - truth).mean()
        print(
            f"round {number}: {len(points):5d} points, residual {float(physics):.3f}, "
            f"rim {float(walls):.5f}, error {error:.4f}"
        )
        pool = rng.random((2000, 2)).astype(np.float32)
        worst = np.argsort(solver.size_of_residual(tf.constant(pool)).numpy())
        points = np.concatenate([points, pool[worst[-plate.added_points :]]])


if __name__ == "__main__":
    main()
