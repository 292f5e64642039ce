"""One known defect put into a healthy run, with the seconds that it costs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.accuracy.quiet import FAMILIES, Random, Run, draw_length, draw_quiet

LEAST_SHARE = 0.02
"""Share of the wall that an injected defect costs at least; smaller ones are drawn again."""
LEAST_SHARE_OF_STALLS = 0.06
"""The same for stalls that come back and do not grow: such costs are named from 5 % of the wall
on."""


def _shift(random: Random, run: Run) -> None:
    count = len(run.base)
    run.onset = int(count * random.uniform(0.15, 0.85))
    run.lost = run.base * np.exp(random.uniform(np.log(0.08), np.log(1.5)))
    run.lost[: run.onset] = 0


def _transient(random: Random, run: Run) -> None:
    count = len(run.base)
    length = int(count * random.uniform(0.12, 0.4))
    run.onset = int(random.uniform(0.2 * count, 0.9 * count - length))
    run.lost = run.base * np.exp(random.uniform(np.log(0.1), np.log(1.5)))
    run.lost[: run.onset] = 0
    run.lost[run.onset + length :] = 0


def _drift(random: Random, run: Run) -> None:
    count = len(run.base)
    total = np.exp(random.uniform(np.log(0.15), np.log(3)))
    run.lost = run.base * total * np.linspace(0, 1, count) ** random.uniform(0.7, 2.5)


def _strong_drift(random: Random, run: Run) -> None:
    count = len(run.base)
    total = np.exp(random.uniform(np.log(2), np.log(180)))
    shape = np.linspace(0, 1, count) ** random.uniform(0.8, 1.6)
    # What grows is not perfectly smooth: memory is taken in chunks.
    chunks = int(random.integers(30, 300))
    shape = 0.9 * shape + 0.1 * np.floor(shape * chunks) / chunks
    run.lost = run.base * total * shape


def _late_drift(random: Random, run: Run) -> None:
    count = len(run.base)
    run.onset = int(count * random.uniform(0.2, 0.6))
    ramp = np.clip((np.arange(count) - run.onset) / (count - run.onset), 0, 1)
    run.lost = run.base * np.exp(random.uniform(np.log(0.3), np.log(3))) * ramp


def _warm_up(random: Random, run: Run) -> None:
    count = len(run.base)
    end = max(8, int(count * random.uniform(0.01, 0.15)))
    height = np.exp(random.uniform(np.log(0.5), np.log(6)))
    run.lost = run.base * height
    run.lost[end:] = 0
    run.onset = end


def _cooling_warm_up(random: Random, run: Run) -> None:
    """Fades away exponentially; it ends where a twentieth of the step is left of it."""
    count = len(run.base)
    height = np.exp(random.uniform(np.log(1), np.log(8)))
    scale = max(8.0, count * random.uniform(0.01, 0.12)) / np.log(height / 0.1)
    run.lost = run.base * height * np.exp(-np.arange(count) / scale)
    run.onset = int(scale * np.log(height / 0.05))


def _periodic(random: Random, run: Run) -> None:
    count = len(run.base)
    period = int(np.exp(random.uniform(np.log(5), np.log(min(500, count / 12)))))
    phase = int(random.integers(0, period))
    usual = float(np.median(run.base))
    height = np.exp(random.uniform(np.log(0.6), np.log(20))) * usual
    hit = np.arange(count) % period == phase
    run.lost = hit * height * np.exp(random.normal(0, 0.1, count))
    run.onset = period


def _epoch_stall(random: Random, run: Run) -> None:
    count = len(run.base)
    length = int(count / random.integers(5, 25))
    run.epochs = np.arange(0, count, length)
    usual = float(np.median(run.base))
    run.lost = np.zeros(count)
    height = np.exp(random.uniform(np.log(2), np.log(60))) * usual
    run.lost[run.epochs] = height * np.exp(random.normal(0, 0.15, len(run.epochs)))


def _input_bound(random: Random, run: Run) -> None:
    usual = float(np.median(run.base))
    share = random.uniform(0.25, 0.9)
    run.lost = usual * share / (1 - share) * random.gamma(4, 0.25, len(run.base))
    run.source = "input_wait"


def _input_shift(random: Random, run: Run) -> None:
    _input_bound(random, run)
    assert run.lost is not None
    run.onset = int(len(run.base) * random.uniform(0.2, 0.6))
    run.lost[: run.onset] *= 0.01


def _retracing(random: Random, run: Run) -> None:
    usual = float(np.median(run.base))
    hit = random.random(len(run.base)) < np.exp(random.uniform(np.log(0.02), 0))
    run.lost = hit * usual * random.uniform(0.5, 20) * random.gamma(20, 0.05, len(run.base))
    run.source = "tracing:again"


def _growing_checkpoint(random: Random, run: Run) -> None:
    count = len(run.base)
    every = max(5, count // int(random.integers(20, 100)))
    rows = np.arange(count)
    cost = every * float(np.median(run.base)) * random.uniform(0.06, 0.3)
    growth = 1 + random.uniform(0.5, 4) * rows / count
    saves = (rows % every == every - 1) * cost * growth
    run.lost = saves * np.exp(random.normal(0, 0.08, count))
    run.source = "checkpoint"


def _neighbours(random: Random, run: Run) -> None:
    """Other processes take the cores for stretches; the kernel counts it for all threads."""
    count = len(run.base)
    usual = float(np.median(run.base))
    delay = np.zeros(count)
    for _ in range(random.integers(1, 4)):
        length = int(count * random.uniform(0.06, 0.3))
        first = int(random.uniform(0.05 * count, count - length))
        load = usual * np.exp(random.uniform(np.log(0.2), np.log(3)))
        delay[first : first + length] += load * random.gamma(2, 0.5, length)
    threads = random.uniform(1, 6)
    others = random.gamma(1, 0.002 * usual, count)
    counted = np.cumsum(delay * threads * random.uniform(0.8, 1.2, count) + others)
    sampled = np.full(count, np.nan)
    every = int(random.integers(5, 40))
    sampled[::every] = counted[::every]
    run.signals["run_delay_seconds"] = sampled
    run.lost = delay


PATTERNS: dict[str, tuple[str, Callable[[Random, Run], None]]] = {
    "shift": ("level_shift", _shift),
    "transient": ("level_shift", _transient),
    "drift": ("drift", _drift),
    "strong drift": ("drift", _strong_drift),
    "late drift": ("drift", _late_drift),
    "warm-up": ("warm_up", _warm_up),
    "cooling warm-up": ("warm_up", _cooling_warm_up),
    "periodic": ("periodic", _periodic),
    "epoch stall": ("epoch_boundary", _epoch_stall),
    "input bound": ("flat", _input_bound),
    "input shift": ("level_shift", _input_shift),
    "retracing": ("any", _retracing),
    "growing checkpoint": ("drift", _growing_checkpoint),
    "neighbours": ("any", _neighbours),
}
"""Defect -> the pattern that it should be called, and how it is put in."""


def draw_defect(random: Random, defect: str) -> Run:
    """A run with one defect on noise of any family, and signals that have nothing to do with it."""
    while True:
        run = draw_quiet(random, str(random.choice(list(FAMILIES))), draw_length(random, 600))
        PATTERNS[defect][1](random, run)
        run.defect = defect
        assert run.lost is not None
        if defect == "neighbours":
            run.core_extra, run.source = run.lost, "contention:run_delay"
        elif run.source:
            run.measured[run.source] = run.lost
        else:
            run.core_extra = run.lost
        stalls = PATTERNS[defect][0] in ("periodic", "epoch_boundary")
        share = LEAST_SHARE_OF_STALLS if stalls else LEAST_SHARE
        if run.lost.sum() >= share * run.step_seconds().sum():
            break
    count = len(run.base)
    jump = np.where(np.arange(count) < run.onset, 1e9, 1.5e9)
    run.signals |= {
        "decoy_growth": np.linspace(1e9, 2e9, count) + random.normal(0, 1e6, count),
        "decoy_walk": 1e9 + np.cumsum(random.normal(0, 2e8 / np.sqrt(count), count)),
        "decoy_jump": np.roll(jump, int(random.uniform(0.1, 0.9) * count)),
        "true_jump": jump + random.normal(0, 2e7, count),
    }
    return run
