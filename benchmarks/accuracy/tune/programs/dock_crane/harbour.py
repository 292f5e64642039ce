"""A quay crane that moves containers with a swinging load."""

import numpy as np


class Quay:
    """State: trolley position, speed, rope angle, rope speed, goal, wind."""

    ACTIONS = np.array([-1.0, -0.4, 0.0, 0.4, 1.0], dtype=np.float32)
    SIZE = 6

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.limit = 120

    def reset(self):
        self.t = 0
        self.s = np.zeros(self.SIZE, dtype=np.float32)
        self.s[0] = self.rng.uniform(-1, 1)
        self.s[4] = self.rng.uniform(-1, 1)
        self.s[5] = self.rng.normal(0, 0.1)
        return self.s.copy()

    def step(self, action):
        x, v, a, w, goal, wind = self.s
        force = self.ACTIONS[action]
        dt = 0.05
        acc = 2.0 * force - 0.3 * v
        w += dt * (-4.0 * np.sin(a) - acc * np.cos(a) - 0.2 * w + wind)
        a += dt * w
        v += dt * acc
        x = float(np.clip(x + dt * v, -1.5, 1.5))
        wind = 0.97 * wind + self.rng.normal(0, 0.02)
        self.s = np.array([x, v, a, w, goal, wind], dtype=np.float32)
        self.t += 1
        miss = abs(x - goal)
        reward = 1.0 - miss - 0.5 * abs(a) - 0.02 * abs(force)
        landed = miss < 0.03 and abs(a) < 0.05 and abs(v) < 0.05
        if landed:
            reward += 5.0
        done = landed or abs(a) > 1.2
        return self.s.copy(), np.float32(reward), done, self.t >= self.limit
