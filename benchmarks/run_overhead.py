"""How much CPU time a monitored run takes more than a plain one.

Short blocks of the same training, plain and monitored, take turns in one process. What
disturbs such a comparison, and what is done about it:

- The machine is now faster, now slower. Each way has its turn in a random order, and then
  in the reverse order, so that a drift weighs on all alike; several such turns are a round,
  and what counts is the difference within a round.
- Two functions traced from the same code differ by 1 % and more: TensorFlow lays them out
  in memory and orders their operations as it comes. So each round traces all functions
  anew, and the interval is over rounds. One model, and so the same weights, serves all.
- A round that was disturbed all the same: the estimate is the mean of the rounds without
  the fifth at each end, the interval its 95 % interval by bootstrap.
- Neighbours: CPU time is compared, not wall time. They still push data out of the caches,
  so that every call between two steps takes longer than on a quiet machine.

What the training pays is measured so: CPU time of the process without the monitor's own
threads. What those take follows from how old a run is, and is measured apart, in one
longer run, by their own clocks: there is no noise in it, and blocks would only ever see
the begin of a run. `added` is the sum. Start and stop of the monitor are left out.

`plain again` checks the method: its interval must hold 0.

    python benchmarks/run_overhead.py                  the promise: a fit and a loop
    python benchmarks/run_overhead.py --threads 0      with TensorFlow's default threads

It exits with 1 where the promise (at most 1 % of a Keras fit with 5 ms steps, and of such
a loop) is not kept, and with 2 where the check failed.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import tensorflow as tf

from benchmarks.overhead_programs import PROGRAMS, CustomLoop, KerasFit, Way
from tb_slowdown_plugin.collectors import registry

MOST_ADDED: Final = 0.01
RESAMPLES: Final = 4000
TRIMMED: Final = 0.2


class Added(NamedTuple):
    """Seconds a step, with their 95 % interval."""

    seconds: float
    low: float
    high: float


def measure(
    program: KerasFit | CustomLoop, ways: Sequence[Way], rounds: int, turns: int, steps: int
) -> np.ndarray:
    """Training CPU seconds a step, shape (rounds, ways)."""
    random = np.random.default_rng(0)
    costs = np.zeros((rounds, len(ways)))
    for nth in range(rounds):
        for way in ways:
            program.trace(way)
        gc.collect()
        gc.freeze()  # what TensorFlow has made would be walked through at random moments
        for _ in range(turns):
            order = random.permutation(len(ways))
            for way in (*order, *reversed(order)):
                costs[nth, way] += program.run(ways[way], steps).training_cpu / (2 * turns)
        gc.unfreeze()
    return costs


def estimate(differences: np.ndarray) -> Added:
    """The trimmed mean of the rounds, and its interval."""
    random = np.random.default_rng(0)
    drawn = random.choice(differences, (RESAMPLES, len(differences)))
    low, high = np.quantile([trimmed_mean(each) for each in drawn], (0.025, 0.975))
    return Added(trimmed_mean(differences), float(low), float(high))


def trimmed_mean(values: np.ndarray) -> float:
    """The mean without the smallest and the largest fifth."""
    cut = int(len(values) * TRIMMED)
    return float(np.sort(values)[cut : len(values) - cut].mean())


def background_share(program: KerasFit | CustomLoop, seconds: float, step_seconds: float) -> float:
    """CPU of the monitor's own threads over wall time, in a run of this length."""
    way = Way("monitored", ())
    program.trace(way)
    cost = program.run(way, max(1, int(seconds / step_seconds)))
    return cost.background_cpu / cost.wall


def main() -> int:
    """Prints a table for each program."""
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--program", choices=list(PROGRAMS), nargs="+", default=["fit", "loop"])
    arguments.add_argument("--rounds", type=int, default=24)
    arguments.add_argument("--turns", type=int, default=4, help="of a round")
    arguments.add_argument("--steps", type=int, default=40, help="of a block")
    arguments.add_argument("--threads", type=int, default=1, help="of TensorFlow; 0: its default")
    arguments.add_argument("--seconds", type=float, default=30.0, help="of the longer run")
    arguments.add_argument("--without", nargs="*", default=(), help="also switch off each of these")
    arguments.add_argument("--all-off", action="store_true", help="also switch off all collectors")
    chosen = arguments.parse_args()
    tf.config.threading.set_intra_op_parallelism_threads(chosen.threads)
    tf.config.threading.set_inter_op_parallelism_threads(chosen.threads)
    tf.get_logger().setLevel("ERROR")
    known = tuple(collector.name for collector in registry.create())
    ways = [
        Way("plain", None),
        Way("monitored", ()),
        Way("plain again", None),
        *([Way("all collectors off", known)] if chosen.all_off else []),
        *(Way(f"without {name}", (name,)) for name in chosen.without),
    ]
    print(
        f"TensorFlow {tf.__version__}, Python {sys.version.split()[0]}, {os.cpu_count()} cores, "
        f"load {os.getloadavg()[0]:.1f}"
    )
    status = 0
    for name in chosen.program:
        program = PROGRAMS[name]()
        costs = measure(program, ways, chosen.rounds, chosen.turns, chosen.steps)
        step = float(np.median(costs[:, 0]))
        share = background_share(program, chosen.seconds, step)
        print(
            f"\n{name}: {step * 1e3:.2f} ms a step (CPU), {chosen.rounds} rounds; in the first "
            f"{chosen.seconds:.0f} s the monitor's threads take {share:.2%} of a core"
        )
        status = max(status, tell(ways, costs, share, step))
    return status


def tell(ways: Sequence[Way], costs: np.ndarray, share: float, step: float) -> int:
    """Prints the table of one program; the exit status."""
    print("                       the training pays, us a step     added in all, % of CPU time")
    status = 0
    for index, way in list(enumerate(ways))[1:]:
        paid = estimate(costs[:, index] - costs[:, 0])
        background = share if way.name == "monitored" else 0.0
        added, least, most = (100 * (value / step + background) for value in paid)
        print(
            f"  {way.name:20} {paid.seconds * 1e6:7.1f} [{paid.low * 1e6:6.1f}, "
            f"{paid.high * 1e6:6.1f}]     = {added:5.2f} % [{least:5.2f}, {most:5.2f}]"
        )
        if way.name == "plain again" and not paid.low <= 0 <= paid.high:
            status = 2
        if way.name == "monitored" and added > 100 * MOST_ADDED:
            status = max(status, 1)
    return status


if __name__ == "__main__":
    sys.exit(main())
