"""When the collectors are read, and what they said until it is written."""

from __future__ import annotations

import threading
from collections.abc import Callable

from tb_slowdown_plugin.writer.sampling.collection import Collection
from tb_slowdown_plugin.writer.sampling.sample_pace import SamplePace
from tb_slowdown_plugin.writer.steps.recorder import Recorder
from tb_slowdown_plugin.writer.steps.step_buffer import Sample


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
        self._samples: list[Sample] = []
        self._lock = threading.Lock()
        self._thread_values: dict[str, float] | None = None
        self._began = self._next = self._now()

    def start(self) -> None:
        """The run begins now."""
        self._recorder.due.sample = self._read_in_thread
        self._began = self._next = self._now()

    def sample(self) -> float:
        """Takes a sample if that is due; returns the seconds until the next one is."""
        now = self._now()
        if now >= self._next:
            began_ns = self._clock.thread_cpu_ns()
            self.take()
            cost_ns = self._clock.thread_cpu_ns() - began_ns
            self._cpu_ns += cost_ns
            self._next = self._began + self._pace.next_age(now - self._began, cost_ns / 1e9)
        return max(0.0, self._next - self._now())

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
