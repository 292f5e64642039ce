"""How many bytes the records take on disk, with noisy data and the real flush schedule.

The clock is simulated, the files are real. Run `python benchmarks/record_bytes.py`; it
exits with 1 where a promise (16 bytes a step from 100 steps/s on, 30 MB for a week at
one step a second) is not kept.
"""

from __future__ import annotations

import os
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np

from tb_slowdown_plugin.catalog.collectors import SIGNALS
from tb_slowdown_plugin.catalog.names import ALLOCATOR_IN_USE, ALLOCATOR_PEAK, account
from tb_slowdown_plugin.collectors.base import Context
from tb_slowdown_plugin.collectors.timing.clock import Clock
from tb_slowdown_plugin.writer.output.event_file import EventFileSink
from tb_slowdown_plugin.writer.session import WriterSession
from tb_slowdown_plugin.writer.steps.recorder import Recorder

WEEK_SECONDS = 7 * 86400
MOST_BYTES_PER_STEP = 16.0
MOST_WEEK_BYTES = 30_000_000


@dataclass
class SimulatedClock:
    """Time passes where the simulation says so, with the noise of a real machine."""

    monotonic_ns: int = 10**15
    process_cpu_ns: int = 10**10
    thread_cpu_ns: int = 10**10

    def clock(self) -> Clock:
        """As the recorder takes it."""
        return Clock(
            monotonic_ns=lambda: self.monotonic_ns,
            process_cpu_ns=lambda: self.process_cpu_ns,
            thread_cpu_ns=lambda: self.thread_cpu_ns,
            unix_seconds=lambda: 1.8e9 + self.monotonic_ns / 1e9,
        )

    def spend(self, seconds: float, process_cpu: float, thread_cpu: float) -> None:
        """Lets time pass."""
        self.monotonic_ns += int(seconds * 1e9)
        self.process_cpu_ns += int(process_cpu * 1e9)
        self.thread_cpu_ns += int(thread_cpu * 1e9)


@dataclass
class SimulatedSignals:
    """Every signal of the names list, each moving as its kind does in a real run."""

    random: np.random.Generator
    name: str = "simulated"
    values: dict[str, float] = field(default_factory=dict)

    def start(self, context: Context) -> None:  # noqa: ARG002
        """Begins with plausible values."""
        names = [
            *(name for name, one in SIGNALS.items() if not one.per_device),
            account(ALLOCATOR_IN_USE, "GPU:0"),
            account(ALLOCATOR_PEAK, "GPU:0"),
        ]
        names.remove("monitor_cpu_seconds")
        self.values = {name: float(self.random.integers(1, 1 << 20)) * 4096.0 for name in names}

    def stop(self) -> None:
        """Nothing is hooked."""

    def read(self) -> dict[str, float]:
        """A cumulative count rises by a noisy amount, a level moves about above zero."""
        for name in self.values:
            known = SIGNALS.get(name)
            if known is not None and known.cumulative:
                self.values[name] += float(self.random.poisson(300))
            else:
                moved = float(self.random.integers(-500, 500)) * 4096.0
                self.values[name] = abs(self.values[name] + moved)
        return dict(self.values)


def simulate(
    logdir: str, *, period_seconds: float, steps: int, seed: int = 0
) -> tuple[int, int, float]:
    """Writes a run with lognormal noise of 10 % on every column.

    Returns:
      Bytes on disk, records written, and bytes a step.
    """
    random = np.random.default_rng(seed)
    time = SimulatedClock()
    recorder = Recorder(time.clock())
    session = WriterSession(
        recorder, EventFileSink(logdir, "0badcafe"), "0badcafe", [SimulatedSignals(random)]
    )
    session.start()
    next_tick_ns = time.monotonic_ns
    for _ in range(steps):
        noise = np.exp(random.normal(0.0, 0.1, 4)) * period_seconds
        recorder.open_period()
        recorder.stopwatch.claim()
        recorder.stopwatch.open("input_wait")
        time.spend(0.05 * noise[0], 0.02 * noise[1], 0.001 * noise[2])
        recorder.stopwatch.close()
        time.spend(0.01 * noise[3], 0.01 * noise[3], 0.01 * noise[3])
        recorder.begin()
        recorder.stopwatch.open("forward")
        time.spend(0.9 * noise[1], 1.4 * noise[2], 0.3 * noise[3])
        recorder.stopwatch.close()
        recorder.end()
        if time.monotonic_ns >= next_tick_ns:
            next_tick_ns = time.monotonic_ns + int(min(session.sample(), session.tick()) * 1e9)
    session.stop()
    size = sum(file.stat().st_size for file in Path(logdir).rglob("*tfevents*"))
    return size, session.records, size / steps


def main() -> int:
    """Prints the sizes; 1 where a promise is not kept."""
    kept = True
    for rate, steps in ((100.0, 30_000), (1000.0, 100_000)):
        with tempfile.TemporaryDirectory() as logdir:
            size, records, per_step = simulate(logdir, period_seconds=1 / rate, steps=steps)
        kept &= per_step <= MOST_BYTES_PER_STEP
        print(
            f"{steps} steps at {rate:.0f} steps/s: {size / 1e6:.2f} MB in {records} records, "
            f"{per_step:.1f} bytes a step (at most {MOST_BYTES_PER_STEP:.0f})"
        )
    with tempfile.TemporaryDirectory() as logdir:
        size, records, per_step = simulate(logdir, period_seconds=1.0, steps=WEEK_SECONDS)
    kept &= size <= MOST_WEEK_BYTES
    print(
        f"a week at 1 step/s: {size / 1e6:.1f} MB in {records} records, "
        f"{per_step:.1f} bytes a step (at most {MOST_WEEK_BYTES / 1e6:.0f} MB)"
    )
    print("kept" if kept else "NOT KEPT")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
