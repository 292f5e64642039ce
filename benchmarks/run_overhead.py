"""How much CPU time a monitored run takes more than a plain one.

The same training runs plain and watched in one process, step by step in random order: before a
plain step the monitor's hooks are taken out. A loop has one function for both; a fit has two,
since the monitor puts operations into its graph. What disturbs such a comparison, and what is
done about it:

- The machine is now faster, now slower, by 10 % and more within a second. Two steps that follow
  each other are a pair: the means of pairs differ by a fourth of what those of turns of 16 steps
  do. The monitor's time stands still in plain steps, so that what it does every so many
  milliseconds falls on as many steps as in a run where all are watched.
- Two functions traced from the same code differ by up to 1 %: TensorFlow lays them out in memory
  and orders their operations as it comes. So each round begins with new functions, every few
  rounds with new processes, and the interval is over rounds; a fit needs more of them.
- A pair or a round that was disturbed all the same: the estimates are means without the fifth
  at each end, the interval is the 95 % interval by bootstrap.
- Neighbours: CPU time is compared, not wall time. They still push data out of the caches,
  so that every call between two steps takes longer than on a quiet machine.

What the training pays is measured so: CPU time of the process without the monitor's own
threads. What those take follows from how old a run is, and is measured apart, by their own
clocks, in a longer stretch at the begin of the run. `added` is the sum. Start and stop of the
monitor are left out.

`plain again` checks the method: its interval must hold 0.

    python benchmarks/run_overhead.py                  the promise: a fit and a loop
    python benchmarks/run_overhead.py --threads 0      with TensorFlow's default threads
    python benchmarks/run_overhead.py --program fit --one-graph    what its hooks take alone

It exits with 1 where the promise (at most 1 % of a Keras fit with 5 ms steps, and of such
a loop) is not kept, and with 2 where the check failed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from benchmarks.overhead_programs import PROGRAMS, Way
from tb_slowdown_plugin.collectors import registry

MOST_ADDED: Final = 0.01
RESAMPLES: Final = 4000
TRIMMED: Final = 0.2
ROUNDS_A_PROCESS: Final = 4


class Added(NamedTuple):
    """Seconds a step, with their 95 % interval."""

    seconds: float
    low: float
    high: float


class Seconds(NamedTuple):
    """What one step took: the training, the monitor's threads, and in all, by the wall."""

    training: float
    background: float
    wall: float


class Training:
    """A process that runs the training plain and one way by turns."""

    def __init__(self, program: str, way: Way, options: Sequence[str]) -> None:
        monitor = ["plain"] if way.disable is None else ["monitored", "--disable", *way.disable]
        script = Path(__file__).with_name("overhead_turns.py")
        self._process = subprocess.Popen(
            [sys.executable, str(script), program, *monitor, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def settle(self) -> None:
        """Waits until a new round is warm."""
        self._read()

    def run_pairs(self, pairs: int) -> tuple[float, float]:
        """CPU seconds that the training takes for a plain step, and more for one this way."""
        self._ask(f"pairs {pairs}")
        numbers = self._read()
        return numbers[0], trimmed_mean(np.array(numbers[6:]))

    def run_watched(self, steps: int) -> Seconds:
        """What a step takes where all are watched."""
        self._ask(f"watched {steps}")
        return Seconds(*self._read()[3:6])

    def end_round(self) -> None:
        """Has it begin anew, with new functions."""
        self._ask("anew")
        self._read()

    def stop(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.communicate()

    def _ask(self, request: str) -> None:
        assert self._process.stdin
        print(request, file=self._process.stdin, flush=True)

    def _read(self) -> list[float]:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"a training ended with {self._process.wait()}")
        return [float(number) for number in line.split()]


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


def main() -> int:
    """Prints a table for each program."""
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--program", choices=list(PROGRAMS), nargs="+", default=["fit", "loop"])
    arguments.add_argument("--rounds", type=int, default=32)
    arguments.add_argument("--pairs", type=int, default=400, help="of steps, in a round")
    arguments.add_argument("--threads", type=int, default=1, help="of TensorFlow; 0: its default")
    arguments.add_argument("--seconds", type=float, default=30.0, help="of the longer stretch")
    arguments.add_argument("--without", nargs="*", default=(), help="also switch off each of these")
    arguments.add_argument("--all-off", action="store_true", help="also switch off all collectors")
    arguments.add_argument(
        "--one-graph", action="store_true", help="of a fit: only what its hooks take"
    )
    chosen = arguments.parse_args()
    known = tuple(collector.name for collector in registry.create())
    ways = [
        Way("monitored", ()),
        Way("plain again", None),
        *([Way("all collectors off", known)] if chosen.all_off else []),
        *(Way(f"without {name}", (name,)) for name in chosen.without),
    ]
    print(
        f"Python {sys.version.split()[0]}, {len(os.sched_getaffinity(0))} of {os.cpu_count()} "
        f"cores, load {os.getloadavg()[0]:.1f}"
    )
    status = 0
    for program in chosen.program:
        share, rounds, plain = run(program, ways, chosen)
        step = float(np.median(plain))
        print(
            f"\n{program}: {step * 1e3:.2f} ms a step (CPU), {chosen.rounds} rounds; in the first "
            f"{chosen.seconds:.0f} s the monitor's threads take {share:.2%} of a core"
        )
        status = max(status, tell(ways, rounds, share, step))
    return status


def run(
    program: str, ways: Sequence[Way], chosen: argparse.Namespace
) -> tuple[float, np.ndarray, np.ndarray]:
    """The share of a core that the background takes, and what each way takes more than plain.

    Returns:
      The share; seconds a step more than plain, shape (rounds, ways); seconds of a plain step.
    """
    options = ["--threads", str(chosen.threads), *(["--one-graph"] if chosen.one_graph else [])]
    share = 0.0
    rounds: list[list[float]] = []
    plain: list[float] = []
    while len(rounds) < chosen.rounds:
        trainings = [Training(program, way, options) for way in ways]
        try:
            for training in trainings:
                training.settle()
            if not rounds:
                step = trainings[0].run_watched(100)
                whole = trainings[0].run_watched(int(chosen.seconds / step.wall))
                share = whole.background / whole.wall
            for _ in range(min(ROUNDS_A_PROCESS, chosen.rounds - len(rounds))):
                took = [training.run_pairs(chosen.pairs) for training in trainings]
                rounds.append([more for _, more in took])
                plain.append(took[0][0])
                print(
                    f"\r{program}: round {len(rounds)} of {chosen.rounds}", end="", file=sys.stderr
                )
                for training in trainings:
                    training.end_round()
        finally:
            for training in trainings:
                training.stop()
    print(file=sys.stderr)
    return share, np.array(rounds), np.array(plain)


def tell(ways: Sequence[Way], rounds: np.ndarray, share: float, step: float) -> int:
    """Prints the table of one program; the exit status."""
    print("                       the training pays, us a step     added in all, % of CPU time")
    status = 0
    for index, way in enumerate(ways):
        paid = estimate(rounds[:, index])
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
