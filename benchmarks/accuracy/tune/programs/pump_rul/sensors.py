"""Run-to-failure histories of pumps: vibration, pressure and temperature channels."""

import numpy as np

CHANNELS = 6


def simulate_fleet(num_pumps, rng, min_life=600, max_life=1400):
    fleet = []
    for _ in range(num_pumps):
        life = int(rng.integers(min_life, max_life))
        t = np.arange(life, dtype=np.float32)
        wear = (t / life) ** rng.uniform(1.5, 4.0)
        signals = np.empty((life, CHANNELS), np.float32)
        for c in range(CHANNELS):
            load = np.sin(t / rng.uniform(15, 60) + rng.uniform(0, 6))
            signals[:, c] = load * (0.5 + 0.5 * wear) + rng.uniform(0.2, 1.5) * wear
        signals += rng.normal(0, 0.15, signals.shape)
        rul = np.minimum(life - t, 300.0) / 300.0
        fleet.append((signals.astype(np.float32), rul.astype(np.float32)))
    return fleet


def standardise(fleet, mean=None, std=None):
    if mean is None:
        stacked = np.concatenate([s for s, _ in fleet])
        mean, std = stacked.mean(0), stacked.std(0) + 1e-6
    return [((s - mean) / std, r) for s, r in fleet], mean, std


def cut_windows(fleet, window, stride):
    xs, ys = [], []
    for signals, rul in fleet:
        for start in range(0, len(signals) - window, stride):
            xs.append(signals[start : start + window])
            ys.append(rul[start + window - 1])
    return np.stack(xs), np.asarray(ys, np.float32)
