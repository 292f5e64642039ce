"""How often `tbslow try` sees a difference where there is none: a program against itself.

    python -m benchmarks.same_program [--experiments 100] [--repeats 2] [--minutes 25]

Each experiment is as `tbslow try` makes it: fresh processes in turns, in fresh copies, ended as
soon as the interval is narrow. Its intervention changes nothing. The interval is one of 99%, so of
100 experiments about one has a difference by chance. Prints one line of JSON for each, then the
sum: experiments, differences, and the median width of the intervals.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from tb_slowdown_plugin.catalog.experiments import EXPERIMENTS
from tb_slowdown_plugin.jobs.experiments import Outcome, try_all
from tb_slowdown_plugin.jobs.program_copy import ProgramCopy
from tb_slowdown_plugin.jobs.trial_process import TrialProcess
from tb_slowdown_plugin.writer.launch.run_script import prepare
from tb_slowdown_plugin.writer.launch.settings import Settings

STEPS: Final = 60
NOTHING: Final = dataclasses.replace(next(iter(EXPERIMENTS.values())), name="nothing")
"""An experiment of which the program's process knows no intervention."""
PROGRAM: Final = """
import tensorflow as tf

weight = tf.Variable(tf.ones((200, 200)) / 200.0)


@tf.function
def train_step(x):
    for _ in range(20):
        x = tf.nn.relu(x @ weight)
    weight.assign_sub(1e-9 * tf.matmul(x, x, transpose_a=True))


batch = tf.ones((64, 200))
for _ in range(100):
    train_step(batch)
"""


def main() -> int:
    """Prints the experiments; 1 where more than 2 of 100 see a difference."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--experiments", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=25.0, help="stop after so many")
    chosen = parser.parse_args()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with tempfile.TemporaryDirectory(prefix="tbslow-same-") as folder:
        results = try_again_and_again(Path(folder), chosen)
    different = sum(result["low"] > 1.0 or result["high"] < 1.0 for result in results)
    widths = [result["high"] / result["low"] for result in results]
    print(
        f"{len(results)} experiments of a program against itself: {different} with a difference; "
        f"intervals are {statistics.median(widths) - 1:.1%} wide (median), "
        f"load {os.getloadavg()[1]:.1f} on {os.cpu_count()} cores"
    )
    return int(different > max(2, 0.02 * len(results)))


def try_again_and_again(folder: Path, chosen: argparse.Namespace) -> list[dict[str, float]]:
    """Low, middle, and high of each experiment, until there are enough or the time is up."""
    home, scratch = folder / "home", folder / "scratch"
    for each in (home, scratch):
        each.mkdir()
    (home / "program.py").write_text(PROGRAM, encoding="utf-8")
    os.chdir(home)
    process = TrialProcess(
        ["program.py"], prepare_trial, scratch, ProgramCopy(["program.py"], home), home
    )
    end = time.monotonic() + 60.0 * chosen.minutes
    results: list[dict[str, float]] = []
    while len(results) < chosen.experiments and time.monotonic() < end:
        (outcome,) = try_all([NOTHING], process.run, chosen.repeats)
        results.append(print_outcome(outcome))
    return results


def print_outcome(outcome: Outcome) -> dict[str, float]:
    """Prints an experiment and returns its figures."""
    found = outcome.speedup
    if found is None:
        raise SystemExit(f"an experiment failed: {outcome.reason}")
    result = {"low": found.low, "speedup": found.ratio, "high": found.high}
    print(json.dumps({name: round(value, 4) for name, value in result.items()}), flush=True)
    return result


def prepare_trial(
    program: Sequence[str], experiment: str, logdir: str, environment: Mapping[str, str]
) -> tuple[list[str], dict[str, str]]:
    """The command of one run, as `tbslow try` has it."""
    settings = Settings(logdir, logdir, "", quiet=True, experiment=experiment, steps=STEPS)
    return prepare(program, settings, environment)


if __name__ == "__main__":
    sys.exit(main())
