"""What injects the defects, and its own account of what they cost.

Each program here is plain training code with one defect, and with `--healthy` the same
code without it. The injector times the defective part with its own clock, and writes

    LOGDIR/truth.json   {"cause", "lost_seconds", "first_step", "neighbour_cores"}

beside the records of `tbslow`, never into them. `lost_seconds` is null where nobody can
know it from inside, as with the time that other processes take. `neighbour_cores` are the
cores that other processes kept busy on average: whether the machine was quiet, told by
the system's own count and not by the signals that the monitor records.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

HEALTHY = "healthy"


def clock() -> float:
    """Seconds that pass for the calling thread, without those in which it waits for a core.

    For defects that no clock of the monitor measures: what neighbours take meanwhile is theirs,
    and the report says so, too. Where the system does not count it, it is the time itself.
    """
    try:
        waited_ns = int(Path("/proc/thread-self/schedstat").read_bytes().split()[1])
    except OSError:
        waited_ns = 0
    return time.perf_counter() - waited_ns / 1e9


class Truth:
    """Seconds of the defective part, and what that part would take in a healthy run."""

    def __init__(self, cause: str) -> None:
        self.cause = cause
        self._lost: list[float] = []
        self._sound: list[float] = []
        self._usual: float | None = None
        self._first_step: int | None = None
        self._known = True

    @contextmanager
    def part(self, step: int) -> Iterator[None]:
        """Times a part that holds the defect."""
        began = time.perf_counter()
        yield
        self.add(step, time.perf_counter() - began)

    def add(self, step: int, seconds: float, *, defect: bool = True) -> None:
        """Adds a part that was timed already; `defect=False` is one to compare with."""
        if not defect:
            self._sound.append(seconds)
            return
        self._lost.append(seconds)
        if self._first_step is None:
            self._first_step = step

    def usually(self, seconds: float) -> None:
        """What one such part takes in a healthy run; else the median of the sound ones."""
        self._usual = seconds

    def is_usually(self, sound_part: Callable[[], object]) -> None:
        """Times what stands in for the part in a healthy run, some twenty times."""
        for _ in range(20):
            began = clock()
            sound_part()
            self._sound.append(clock() - began)

    def grows_from_first(self, count: int) -> None:
        """The part is healthy in its first `count` times: what comes on top is lost."""
        self.usually(statistics.median(self._lost[:count]))

    def is_unknown(self) -> None:
        """Nobody can tell from inside how many seconds it costs."""
        self._known = False

    def write(self, path: Path, *, healthy: bool, neighbour_cores: float | None) -> None:
        """Writes the truth of a finished run."""
        usual = self._usual
        if usual is None:
            usual = statistics.median(self._sound) if self._sound else 0.0
        lost = sum(self._lost) - usual * len(self._lost)
        told = {
            "cause": HEALTHY if healthy else self.cause,
            "lost_seconds": 0.0 if healthy else round(lost, 4) if self._known else None,
            "first_step": None if healthy else self._first_step,
            "neighbour_cores": neighbour_cores and round(neighbour_cores, 2),
        }
        path.write_text(json.dumps(told) + "\n")


def run(cause: str, main: Callable[[str, Truth, bool], None]) -> None:
    """The command line of a program: `PROGRAM LOGDIR [--healthy]`."""
    parser = argparse.ArgumentParser()
    parser.add_argument("logdir", type=Path)
    parser.add_argument("--healthy", action="store_true", help="the same without the defect")
    options = parser.parse_args()
    healthy = options.healthy or cause == HEALTHY
    truth = Truth(cause)
    options.logdir.mkdir(parents=True, exist_ok=True)
    began, others = time.perf_counter(), _seconds_of_others()
    main(str(options.logdir), truth, options.healthy)
    lasted = time.perf_counter() - began
    cores = None if others is None else (_seconds_of_others() - others) / lasted
    truth.write(options.logdir / "truth.json", healthy=healthy, neighbour_cores=cores)


def _seconds_of_others() -> float | None:
    """CPU seconds of all other processes since the machine started; None where not told."""
    try:
        fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    except OSError:
        return None
    user, nice, system, _idle, _wait, interrupt, soft_interrupt, *_ = map(int, fields)
    ticks = user + nice + system + interrupt + soft_interrupt
    return ticks / os.sysconf("SC_CLK_TCK") - time.process_time()
