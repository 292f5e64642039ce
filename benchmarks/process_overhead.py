"""CPU time of whole watched processes beside plain ones: a check of `run_overhead.py`.

That one compares step with step in one process, and a method can be wrong. Here a process trains
plain, another one watched, in pairs of random order, and the CPU time of all threads is compared,
the monitor's own included, from a warm start to the last step. Less sharp, and nothing is put in
or taken out while it runs.

    python benchmarks/process_overhead.py [--pairs 6] [--seconds 8]
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

SIZES: Final = {1: (176, 64), 6: (512, 96), 25: (1024, 112)}
"""About so many milliseconds a step of one thread -> width of the layers, examples in a batch."""
WARM_STEPS: Final = 200
SECONDS_AT_LEAST: Final = 2.0


def main() -> None:
    """Prints a row for each training, or trains."""
    parser = argparse.ArgumentParser(prog="python benchmarks/process_overhead.py")
    parser.add_argument("--pairs", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=8.0, help="of a training, after its start")
    parser.add_argument("--only", nargs="*", default=["loop", "fit"], choices=["loop", "fit"])
    parser.add_argument("--train", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.train:
        program, milliseconds, steps, sort = options.train
        train(program, int(milliseconds), int(steps), watched=sort == "watched")
        return
    print("| training | a step, ms of CPU | watched beside plain, % | pairs |\n|---|---|---|---|")
    for program in options.only:
        for milliseconds in SIZES:
            steps = round(max(options.seconds, SECONDS_AT_LEAST) * 1000 / milliseconds)
            added, plain_seconds = [], []
            for _ in range(options.pairs):
                sorts = ["plain", "watched"]
                random.shuffle(sorts)
                took = {sort: measure(program, milliseconds, steps, sort) for sort in sorts}
                added.append(100 * (took["watched"] / took["plain"] - 1))
                plain_seconds.append(took["plain"] / steps)
            print(
                f"| {program} | {1000 * statistics.median(plain_seconds):.2f} "
                f"| {statistics.median(added):+.2f} [{min(added):+.2f}, {max(added):+.2f}] "
                f"| {len(added)} |",
                flush=True,
            )


def measure(program: str, milliseconds: int, steps: int, sort: str) -> float:
    """CPU seconds of all threads of a new process for these steps."""
    command = [sys.executable, __file__, "--train", program, str(milliseconds), str(steps), sort]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(json.loads(done.stdout.splitlines()[-1]))


def train(program: str, milliseconds: int, steps: int, *, watched: bool) -> None:
    """Trains, and prints the CPU seconds that the steps after the warm ones took."""
    import tbslow
    from benchmarks.overhead_programs import make_data, make_model, make_train, tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    width, batch = SIZES[milliseconds]
    model, data = make_model(width), make_data(width, batch)
    clock = time.process_time
    with tempfile.TemporaryDirectory() as logdir:
        if program == "fit":
            callbacks = [tbslow.keras.SlowdownCallback(logdir)] if watched else []
            seconds = _fit(model, data, steps, callbacks, clock)
        else:
            step = make_train(model)
            mark = tbslow.summary.step if watched else nullcontext
            with tbslow.start(logdir) if watched else nullcontext():
                for number, (x, y) in enumerate(tbslow.data(data) if watched else data):
                    if number == WARM_STEPS:
                        began = clock()
                    if number == WARM_STEPS + steps:
                        break
                    with mark():
                        step(x, y)
                seconds = clock() - began
    print(json.dumps(seconds))


def _fit(
    model: object, data: object, steps: int, callbacks: list[object], clock: Callable[[], float]
) -> float:
    import keras

    times: list[float] = []

    class Clock(keras.callbacks.Callback):  # type: ignore[misc]
        """At the first and the last of the steps that count."""

        def on_train_batch_end(self, batch: int, **_: object) -> None:
            if batch in (WARM_STEPS - 1, WARM_STEPS + steps - 1):
                times.append(clock())

    model.fit(  # type: ignore[attr-defined]
        data, steps_per_epoch=WARM_STEPS + steps, verbose=0, callbacks=[*callbacks, Clock()]
    )
    return times[1] - times[0]


if __name__ == "__main__":
    main()
