"""When the collectors are read, and what they said until it is written.

A sample is due by the age of the run and by what samples have cost so far.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from statistics import median_low
from typing import Final

from tb_slowdown_plugin.records.types import Fact
from tb_slowdown_plugin.writer.sampling.collection import Collection
from tb_slowdown_plugin.writer.steps.recorder import Recorder
from tb_slowdown_plugin.writer.steps.step_buffer import Sample

SAMPLING_SHARE: Final = 0.0014
"""Of one core, on the average of a run: a seventh of what a monitored run may cost at all."""

_SAMPLING_CREDIT: Final = 0.01
"""CPU seconds that a run may be in debt: a short run has to have some samples."""

_FIRST_ONES: Final = 2
_FREE_SECONDS: Final = 0.015
"""What each of the first samples may take without fewer coming after it: they import and build
things, which beside other work took 11 and 14 ms once, and left a run of 12 s unseen for 5 s."""

_ONCE_SECONDS: Final = 0.2
"""For what is done once, beside samples: it takes 0.1 s for a graph of 20,000 operations."""
_ONCE_SHARE: Final = 0.0002
"""Of one core, as much more: a program that is traced again and again always has something new."""

YOUNG_SECONDS: Final = 15.0
"""So long a run is also looked at between two samples: it may be over soon."""

_LOOK_BETWEEN_SECONDS: Final = 0.25

_LOOKS_IN_AN_AGE: Final = 60.0
"""So many looks in a time as long as the run is old, while a collector has more to see: steps that
get slower are looked at where they do, and a day of that is 700 looks."""

_FIRST_SECONDS: Final = 5.0
_LOOK_FIRST_SECONDS: Final = 0.1
"""So often in these: a run of four seconds has 40 samples of its stack, in four sets."""

_LATE_BY_SECONDS: Final = 0.025
"""Five times as long as the interpreter lets a thread keep its lock: whoever wakes up later than
that was kept by one call that doesn't give it away, such as `sorted` of a long list."""

SLOWED: Final = "sampling_slowed"
"""Fact: samples cost so much CPU time that there are fewer of them."""

_TOLD_FROM: Final = 2.0
"""Times the usual rest, or the one that was told last: less says nothing to anybody."""

_USUAL_OF: Final = 5
"""Samples of which the usual cost is the median: one that met a full disk cache took 80 ms."""

_MOST_RESTS: Final = 16.0
"""Times the usual rest, at most, where the usual cost is within the share: what one expensive
sample spent too much is then earned over several rests, and the run is not left unseen."""


class Sampling:
    """Takes samples within their share of a core; keeps them until they are drained.

    It has no thread of its own: `sample` is called in one that may be lost to a collector
    that hangs, `drain` in another.

    Args:
      recorder: Knows the steps and the clocks; its thread reads what only it can see.
      collection: What is read.
      writing_cpu_ns: CPU time that writing has taken; a signal tells both together.
    """

    def __init__(
        self, recorder: Recorder, collection: Collection, writing_cpu_ns: Callable[[], int]
    ) -> None:
        self._recorder = recorder
        self._clock = recorder.clock
        self._collection = collection
        self._writing_cpu_ns = writing_cpu_ns
        self._pace = SamplePace(recorder.emit)
        self._cpu_ns = 0
        self._once_seconds = 0.0
        self._samples: list[Sample] = []
        self._lock = threading.Lock()
        self._thread_values: dict[str, float] | None = None
        self._began = self._next = self._next_look = self._now()

    def start(self) -> None:
        """The run begins now."""
        self._recorder.due.sample = self._read_in_thread
        self._began = self._next = self._next_look = self._now()

    def sample(self) -> float:
        """Takes a sample if that is due; returns the seconds until the next one, or look, is."""
        now = self._now()
        began_ns = self._clock.thread_cpu_ns()
        looks = self._looks(now)
        due = self._due(now)
        late_seconds = now - due
        if late_seconds >= _LATE_BY_SECONDS:
            self._collection.look_late(late_seconds)
        if late_seconds >= 0:
            self._collection.tell_due(int(due * 1e9))
        if now >= self._next:
            if not self._collection.start_put_off():
                return self._rest()  # given up: another thread samples by now
            if not self._look_once(now - self._began):
                return self._rest()
            started_ns = self._clock.thread_cpu_ns()
            self.take()
            ended_ns = self._clock.thread_cpu_ns()
            self._cpu_ns += ended_ns - began_ns
            cost_seconds = (ended_ns - started_ns) / 1e9  # to start collectors is paid once
            self._next = self._began + self._pace.next_age(now - self._began, cost_seconds)
        elif looks and now >= self._next_look:
            self._collection.read(cheap=True)
            self._cpu_ns += self._clock.thread_cpu_ns() - began_ns
        else:
            return self._rest()
        self._next_look = now + _look_seconds(now - self._began)
        return self._rest()

    def _look_once(self, age_seconds: float) -> bool:
        """Whether this thread still samples; nothing is done where it has cost too much so far."""
        if self._once_seconds > _ONCE_SECONDS + _ONCE_SHARE * age_seconds:
            return True
        began_ns = self._clock.thread_cpu_ns()
        is_mine = self._collection.look_once()
        self._once_seconds += (self._clock.thread_cpu_ns() - began_ns) / 1e9
        return is_mine

    def _rest(self) -> float:
        now = self._now()
        return max(0.0, self._due(now) - now)

    def _due(self, now: float) -> float:
        return min(self._next, self._next_look) if self._looks(now) else self._next

    def _looks(self, now: float) -> bool:
        """Whether the run is looked at between two samples."""
        return now < self._began + YOUNG_SECONDS or self._collection.is_curious

    def take(self) -> None:
        """Takes a sample now."""
        spent_ns = self._writing_cpu_ns() + self._cpu_ns
        values = self._collection.read()
        if values is None:
            return
        values["monitor_cpu_seconds"] = spent_ns / 1e9
        with self._lock:
            self._add_thread_values()
            self._samples.append(Sample(self._clock.unix_seconds(), self._recorder.rows, values))
        if self._collection.needs_thread:
            self._recorder.due.ask_for_sample()

    def drain(self, *, final: bool) -> list[Sample]:
        """Gives what was sampled, oldest first, and forgets it.

        Args:
          final: Nothing comes after it, so the newest sample is given as well, which
            otherwise waits for what the training thread adds to it.
        """
        with self._lock:
            self._add_thread_values()
            kept = 0 if final or not self._collection.needs_thread else 1
            ready = max(0, len(self._samples) - kept)
            samples, self._samples = self._samples[:ready], self._samples[ready:]
        return samples

    def _read_in_thread(self) -> None:
        self._thread_values = self._collection.read_in_thread()

    def _add_thread_values(self) -> None:
        values, self._thread_values = self._thread_values, None
        if values and self._samples:
            self._samples[-1].values.update(values)

    def _now(self) -> float:
        return self._clock.monotonic_ns() / 1e9


def _look_seconds(age_seconds: float) -> float:
    if age_seconds < _FIRST_SECONDS:
        return _LOOK_FIRST_SECONDS
    return max(_LOOK_BETWEEN_SECONDS, age_seconds / _LOOKS_IN_AN_AGE)


def sample_seconds(age_seconds: float) -> float:
    """Seconds between two samples of a run of this age.

    A young run is sampled often because it may be over soon; an old one has
    some hundred samples in any stretch that matters to it.
    """
    return min(max(age_seconds / 200.0, 0.25), 10.0)


def affordable_seconds(spent_cpu_seconds: float) -> float:
    """The age at which a run has earned the CPU time that its samples took; 0 in its credit.

    A sample costs 0.3 ms in an idle process and 0.6 ms beside a training, which has the
    caches; more where there are hundreds of threads: then there are fewer of them.
    """
    return max(0.0, spent_cpu_seconds - _SAMPLING_CREDIT) / SAMPLING_SHARE


class SamplePace:
    """Keeps samples to their share of a core: it backs off, and records that it did.

    What all samples took stays within the share in the long run.

    Args:
      emit: Takes the fact `sampling_slowed`.

    Example:
      >>> pace = SamplePace(emit=lambda fact: print(fact.name, round(fact.numbers["seconds"], 2)))
      >>> pace.next_age(0.0, cost_seconds=0.001)
      0.25
      >>> round(pace.next_age(0.25, cost_seconds=0.033), 2)
      sampling_slowed 4.0
      4.25
    """

    def __init__(self, emit: Callable[[Fact], None]) -> None:
        self._emit = emit
        self._spent_seconds = 0.0
        self._samples = 0
        self._costs: deque[float] = deque(maxlen=_USUAL_OF)
        self._told_seconds = 0.0

    def next_age(self, age_seconds: float, cost_seconds: float) -> float:
        """The age at which the next sample is due, in seconds.

        Args:
          age_seconds: Of the run, at the sample that was taken just now.
          cost_seconds: CPU time of that sample.
        """
        free = _FREE_SECONDS if self._samples < _FIRST_ONES else 0.0
        self._samples += 1
        self._spent_seconds += max(0.0, cost_seconds - free)
        usual = sample_seconds(age_seconds)
        self._costs.append(cost_seconds)
        most = max(_MOST_RESTS * usual, median_low(self._costs) / SAMPLING_SHARE)
        rest = min(affordable_seconds(self._spent_seconds) - age_seconds, most)
        if rest <= usual:
            return age_seconds + usual
        if rest >= _TOLD_FROM * max(usual, self._told_seconds):
            self._told_seconds = rest
            numbers = {
                "seconds": rest,
                "usual_seconds": usual,
                "sample_cpu_seconds": cost_seconds,
            }
            self._emit(Fact(SLOWED, "", numbers))
        return age_seconds + rest
