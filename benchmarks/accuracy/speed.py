"""Time and memory of the engine: `python -m benchmarks.accuracy.speed [STEPS ...]`."""

from __future__ import annotations

import resource
import subprocess
import sys
import time

import numpy as np

from tb_slowdown_plugin.analysis import diagnose

_ACCOUNTS = ("gc", "checkpoint", "summary", "tracing:again", "callback:A", "callback:B")
_SIGNALS = 20


def main() -> None:
    """Measures each size in a process of its own."""
    sizes = [int(float(each)) for each in sys.argv[1:]] or [10_000, 100_000, 1_000_000, 10_000_000]
    print("| steps | seconds | peak memory, MB | of that the arrays given, MB |")
    print("|---|---|---|---|")
    for steps in sizes:
        command = [sys.executable, "-m", "benchmarks.accuracy.speed", "--one", str(steps)]
        print(subprocess.run(command, check=True, capture_output=True, text=True).stdout, end="")


def _measure(steps: int) -> None:
    random = np.random.default_rng(0)
    seconds = 0.01 * np.exp(random.normal(0, 0.1, steps))
    seconds[steps // 2 :] *= 1.2
    measured = {
        "input_wait": 0.001 * random.gamma(2, 0.5, steps),
        **{name: (random.random(steps) < 0.05) * 0.002 for name in _ACCOUNTS},
    }
    for column in measured.values():
        seconds += column
    # Signals are sampled ten times a second at most: one step in a hundred here.
    signals = {}
    for index in range(_SIGNALS if steps <= 1_000_000 else 1):
        values = np.full(steps, np.nan, np.float32)
        values[::100] = np.cumsum(random.random(len(values[::100])) * 0.01)
        signals["run_delay_seconds" if index == 0 else f"signal_{index}"] = values
    before = _peak_megabytes()
    started = time.perf_counter()
    diagnosis = diagnose(
        seconds, measured, signals=signals, epochs=np.arange(0, steps, steps // 20)
    )
    taken = time.perf_counter() - started
    assert diagnosis.verdict == "slowdown"
    print(f"| {steps:,} | {taken:.2f} | {_peak_megabytes():.0f} | {before:.0f} |")


def _peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        _measure(int(sys.argv[2]))
    else:
        main()
