"""What a collector is: one family of signals, with a start, a reading and a stop.

A collector hooks into TensorFlow, Keras or Python when it starts, removes its
hook when it stops, and says in plain words why it can't run where it can't.
It has three ways to report: seconds of the training thread go to the
`Stopwatch`, things that happen once to `Context.emit`, and what is sampled is
returned by `read`. It never raises into the training loop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from tb_slowdown_plugin.collectors.timing.clock import Clock
from tb_slowdown_plugin.collectors.timing.stopwatch import Stopwatch
from tb_slowdown_plugin.records.types import What


class Unavailable(Exception):
    """A collector can't run here; the text completes "not measured: ..."."""


@dataclass(frozen=True, slots=True)
class Context:
    """What a collector is given when it starts."""

    clock: Clock
    stopwatch: Stopwatch
    emit: Callable[[What], None]
    """Records that something happened now, in the step under way. Any thread."""
    report_failure: Callable[[str, str], None]
    """(part, reason): a hook failed; it is recorded once a part, training goes on."""
    steps_finished: Callable[[], int] = lambda: 0
    """How many steps the training thread has finished. Any thread."""
    batch_observers: list[Callable[[Any], None]] = field(default_factory=list)
    """Called with batches of `tbslow.data`, in the training thread, but for those that look like
    the one before. They never raise."""
    watched: set[str] = field(default_factory=set)
    """Directories whose growth is watched: the logdir, where it is known, and whatever
    directory a collector sees being written to."""


class Collector(Protocol):
    """One family of signals. `name` is what the environment record lists it under."""

    name: str

    def start(self, context: Context) -> None:
        """Installs the hooks.

        Raises:
          Unavailable: It can't run here, and why.
        """

    def stop(self) -> None:
        """Removes the hooks; what TensorFlow had before is back in place."""


class PartialCollector(Collector, Protocol):
    """A collector that may run and still not see everything."""

    caveat: str
    """After `start`: what it does not see here, and why; "" where it sees all."""


class SampledCollector(Collector, Protocol):
    """A collector that is also asked for values, in the background thread."""

    def read(self) -> Mapping[str, float]:
        """Signal name -> value now. What can't be read now is left out, never zero.

        Raises:
          Unavailable: It turns out only now that it can't run here; it is stopped.
        """


class BackgroundCollector(SampledCollector, Protocol):
    """A collector that asks the system and hooks nothing: it is started where it is read.

    A driver or a network filesystem may take seconds to answer, or for ever. The training
    thread does not wait for that.
    """

    in_background: bool
    """True."""


class ThreadSampledCollector(Collector, Protocol):
    """As `SampledCollector`, but read in the training thread, at the end of a step.

    For what only that thread can see, such as its default graph. At most one
    reading a sample, so it may cost microseconds, not milliseconds.
    """

    def read_in_thread(self) -> Mapping[str, float]:
        """Signal name -> value now."""
