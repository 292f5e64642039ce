"""Healthy runs: what step times do by themselves on real machines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Random = np.random.Generator


@dataclass
class Run:
    """A generated run and what was done to it. `S` is its number of steps."""

    family: str
    base: Float
    """(S,) seconds of the healthy step, noise included."""
    measured: dict[str, Float] = field(default_factory=dict)
    signals: dict[str, Float] = field(default_factory=dict)
    kinds: NDArray[np.int64] | None = None
    items: Float | None = None
    epochs: NDArray[np.int64] | None = None
    core_extra: Float | None = None
    """(S,) seconds added that no account holds."""
    defect: str = "none"
    source: str = ""
    onset: int = 0
    lost: Float | None = None
    """(S,) the truth: seconds lost in each step."""

    def step_seconds(self) -> Float:
        """(S,) what a monitor would have measured."""
        total = self.base.copy()
        for column in self.measured.values():
            total += column
        if self.core_extra is not None:
            total += self.core_extra
        return total


def draw_length(random: Random, shortest: int = 300, longest: int = 30_000) -> int:
    """Numbers of steps, evenly spread over orders of magnitude."""
    return round(float(np.exp(random.uniform(np.log(shortest), np.log(longest)))))


def _white(random: Random, count: int) -> Float:
    return random.normal(0, np.exp(random.uniform(np.log(0.01), np.log(0.12))), count)


def _autoregressive(random: Random, count: int) -> Float:
    """Neighbouring steps are alike."""
    phi, sigma = random.uniform(0.3, 0.95), random.uniform(0.01, 0.06)
    shocks = random.normal(0, sigma * np.sqrt(1 - phi * phi), count)
    values = np.empty(count)
    state = random.normal(0, sigma)
    for index, shock in enumerate(shocks):
        state = phi * state + shock
        values[index] = state
    return values


def _weather(random: Random, count: int) -> Float:
    """Clocks, caches and neighbours that wander over minutes, by up to 2.5 %."""
    length = max(3, int(count * random.uniform(0.001, 0.02)))
    knots = random.normal(0, random.uniform(0.005, 0.025), count // length + 3)
    return np.interp(np.arange(count) / length, np.arange(len(knots)), knots)


def _bursts(random: Random, count: int) -> Float:
    """Neighbours that slow a stretch of at most 1 % of the run down."""
    values = np.zeros(count)
    for _ in range(random.integers(0, 7)):
        length = max(1, int(count * random.uniform(0.0005, 0.01)))
        first = random.integers(0, count)
        values[first : first + length] += np.log(random.uniform(1.1, 1.8))
    return values


def _heavy_tail(random: Random, count: int) -> Float:
    """A few steps in ten thousand take many times the usual: page faults, the scheduler."""
    values = np.zeros(count)
    hit = random.random(count) < np.exp(random.uniform(np.log(1e-4), np.log(4e-3)))
    values[hit] = np.log1p(np.minimum(random.pareto(1.3, int(hit.sum())), 200.0))
    return values


def _two_modes(random: Random, count: int) -> Float:
    """Two sorts of batches, at random, that nobody has told apart."""
    return np.where(random.random(count) < random.uniform(0.1, 0.4), random.uniform(0.1, 0.5), 0.0)


def _skewed(random: Random, count: int) -> Float:
    """A floor and a long right side, as disks and networks have."""
    return np.log1p(random.gamma(random.uniform(0.5, 3), random.uniform(0.02, 0.15), count))


Noise = Callable[[Random, int], Float]
FAMILIES: dict[str, tuple[Noise, ...]] = {
    "white": (_white,),
    "autocorrelated": (_autoregressive, _weather),
    "bursts": (_white, _weather, _bursts),
    "heavy_tail": (_white, _heavy_tail),
    "two_modes": (_white, _two_modes),
    "skewed": (_skewed, _weather),
    "everything": (_autoregressive, _weather, _bursts, _heavy_tail),
}
"""What is multiplied onto the step time, by family."""
SPECIAL = ("checkpoints", "items", "curriculum", "kinds", "garbage", "input")
"""Healthy runs in which something else happens as well, as configured."""


def draw_quiet(random: Random, family: str, count: int | None = None) -> Run:
    """A healthy run: noise of a family, and for the special ones what is configured."""
    count = draw_length(random) if count is None else count
    noise = FAMILIES.get(family) or FAMILIES[str(random.choice(list(FAMILIES)))]
    seconds = float(np.exp(random.uniform(np.log(0.002), np.log(0.5))))
    base = seconds * np.exp(sum((each(random, count) for each in noise), np.zeros(count)))
    run = Run(family, base)
    rows = np.arange(count)
    if family == "checkpoints":
        every = int(random.integers(max(10, count // 40), max(20, count // 8)))
        cost = random.uniform(0.003, 0.03) * every * seconds
        saves = (rows % every == every - 1) * cost * np.exp(random.normal(0, 0.1, count))
        run.measured["checkpoint"] = saves
    elif family in ("items", "curriculum"):
        items = random.integers(20, 200, count).astype(np.float64)
        if family == "curriculum":
            items *= np.linspace(1, random.uniform(1.5, 6), count)
        fixed = random.uniform(0, 0.6)
        power = random.uniform(1, 1.6)
        run.items = items
        run.base = base * (fixed + (1 - fixed) * (items / items.mean()) ** power)
    elif family == "kinds":
        every = int(random.integers(5, 50))
        run.kinds = (rows % every == 0).astype(np.int64)
        run.base = base * np.where(run.kinds == 1, random.uniform(0.3, 5), 1.0)
    elif family == "garbage":
        gap = random.integers(100, 400)
        pauses = random.random(count) < 1 / gap
        run.measured["gc"] = pauses * seconds * gap * random.uniform(0.002, 0.03)
    elif family == "input":
        share = random.uniform(0.005, 0.08)
        run.measured["input_wait"] = share * seconds * random.gamma(1.0, 1.0, count)
    return run
