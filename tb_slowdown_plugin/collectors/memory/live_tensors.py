"""Which tensors are alive and who holds them, looked at only while memory grows.

Cost: 60 us a second. What the program's variables hold is looked at as soon as memory rises, ever
more rarely, and told where it got more twice. A census takes 0.06 to 0.5 s in the
background, holds up Python meanwhile, and is taken only where all of them together stay below 0.5%
of the wall time: first after some 15 s, and where no variable is known yet, with the holders after
a minute. Where none has been named by the end of a run whose memory rose, it is looked once more
then, outside of training.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Mapping
from types import CodeType
from typing import Final, NamedTuple

from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.events import TENSOR_CENSUS, TENSORS_ADDED_AT
from tb_slowdown_plugin.collectors.base import Context, Unavailable
from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces
from tb_slowdown_plugin.collectors.memory.allocator import Allocator
from tb_slowdown_plugin.collectors.memory.reachable_tensors import HeldTensors, ReachableTensors
from tb_slowdown_plugin.collectors.memory.tensor_census import (
    Census,
    Holder,
    TensorGroup,
    find_holder,
    find_scripts,
    take_census,
)
from tb_slowdown_plugin.collectors.system.memory import ProcessMemory
from tb_slowdown_plugin.records.types import Fact

_SHARE: Final = 0.005
"""Of the wall time, for all censuses together."""
_SECONDS_PER_BLOCK: Final = 0.08e-6
"""What counting takes for each block of memory that Python holds, before it has been timed
(1.1 million blocks with TensorFlow 2.21 loaded: 60 ms, measured)."""
_WITH_HOLDER: Final = 3
"""Passes over Python's objects that a census takes with the name of a list that holds tensors. The
second census is put off until they can be afforded: else each would take what the name needs."""
_LOOK_NS: Final = 1_000_000_000
"""How often memory is looked at, at most: a look takes 60 us out of a cold cache."""
_VARIABLES_SHARE: Final = 0.002
"""Of the wall time, for looking at what variables hold."""
_VARIABLES_NS: Final = 5_000_000_000
"""The least time between the first such looks."""
_FIRST_LOOKS: Final = 3
"""Between the looks after these there is twice as much time each time."""
_LEAST_GROWN_BYTES: Final = 2**20
_GROWS: Final = 2
"""Looks in a row in which a variable has more."""
_MOST_DOUBLED: Final = 8
_MATTERS: Final = 0.25
"""Of what memory has risen by: who holds so much more is who was looked for."""
_MORE: Final = 1.1
"""Times what was told before, to be told again."""
_GROUPS: Final = 3
_MOST_PATIENT: Final = 64


class _Holding(NamedTuple):
    """What a variable was seen to hold, in bytes."""

    first_bytes: int
    last_bytes: int
    told_bytes: int
    times: int = 0
    """Looks in a row in which it had more."""


class LiveTensors:
    """Samples the number and bytes of live eager tensors, and tells the largest groups.

    It waits for a suspicion: resident memory, or an allocator's bytes, that
    rise over three stretches of samples. A census that finds no more tensors
    than the one before makes it wait twice as long for the next.
    """

    name = "live_tensors"

    def start(self, context: Context) -> None:
        """Keeps what it asks; nothing is hooked.

        Raises:
          Unavailable: Eager execution is off, or neither memory can be read.
        """
        import tensorflow as tf
        from tensorflow.python.framework import ops

        if not tf.compat.v1.executing_eagerly_outside_functions():
            raise Unavailable("eager execution is off: there are no eager tensors")
        if not hasattr(ops, "EagerTensor"):
            raise Unavailable(f"TensorFlow {tf.__version__} has no class EagerTensor")
        self._tensor_class: type = ops.EagerTensor
        self._context = context
        self._memories: list[Allocator | ProcessMemory] = []
        for memory in (Allocator(), ProcessMemory()):
            try:
                memory.start(context)
            except Unavailable:
                continue
            self._memories.append(memory)
        if not self._memories:
            raise Unavailable("neither resident memory nor an allocator reports its bytes")
        self._rises: dict[str, MemoryRise] = {}
        self._places = SourcePlaces.of_process()
        self._began_ns = context.clock.monotonic_ns()
        self._spent_ns = self._pass_ns = self._next_ns = self._next_look_ns = 0
        self._reachable = ReachableTensors(self._tensor_class, self._places)
        self._held: dict[str, _Holding] = {}
        self._looks = 0
        self._next_variables_ns = 0
        self._patience = 1
        self._last = (0, 0)
        self._is_named = self._is_known = self._is_over = False
        self._scripts: dict[int, CodeType] = {}

    def read(self) -> Mapping[str, float]:
        """The number and bytes of live tensors, where a census is due."""
        now_ns = self._context.clock.monotonic_ns()
        if now_ns < self._next_look_ns:
            return {}
        self._next_look_ns = now_ns + _LOOK_NS
        self._scripts = self._scripts or find_scripts(self._context.stopwatch.thread)
        is_suspicious = self._is_suspicious()
        if is_suspicious or self._has_risen():
            self._look_at_variables(now_ns)
        if not is_suspicious or now_ns < self._next_ns:
            return {}
        passes = 1 if self._is_named or not self._pass_ns else _WITH_HOLDER
        if not self._can_afford(passes * (self._pass_ns or _expected_pass_ns())):
            return {}
        spent_ns = self._spent_ns
        found = self._take_census()
        grown = any(now > 1.01 * before for now, before in zip(found, self._last, strict=True))
        self._patience = 1 if grown else min(2 * self._patience, _MOST_PATIENT)
        self._next_ns = now_ns + int(self._patience * (self._spent_ns - spent_ns) / _SHARE)
        self._last = found
        return {"live_tensors": found[0], "live_tensor_bytes": found[1]}

    def stop(self) -> None:
        """Looks once more if memory rose and nobody was named; closes the kernel's file."""
        if not self._is_named and self._has_risen():
            self._is_over = True
            self._take_census()
        for memory in self._memories:
            memory.stop()

    def _is_suspicious(self) -> bool:
        for memory in self._memories:
            for name, value in memory.read().items():
                if names.family(name) in (names.ALLOCATOR_IN_USE, "rss_bytes"):
                    self._rises.setdefault(name, MemoryRise()).note(value)
        return any(rise.is_rising for rise in self._rises.values())

    def _has_risen(self) -> bool:
        """Whether an allocator's bytes have: those of the process do at its start in any case."""
        return any(
            rise.has_risen and names.family(name) == names.ALLOCATOR_IN_USE
            for name, rise in self._rises.items()
        )

    def _look_at_variables(self, now_ns: int) -> None:
        """Tells what variables hold ever more, against the first time that each was seen."""
        if now_ns < self._next_variables_ns:
            return
        began_ns = self._context.clock.monotonic_ns()
        thread = self._context.stopwatch.thread
        for each in self._reachable.find(thread, self._scripts, _GROUPS):
            if self._grows(each) >= _MATTERS * self._risen_bytes():
                self._is_named = self._is_known = True
        took_ns = self._context.clock.monotonic_ns() - began_ns
        self._looks += 1
        often = max(0, self._looks - _FIRST_LOOKS)
        wait_ns = max(_VARIABLES_NS << min(often, _MOST_DOUBLED), int(took_ns / _VARIABLES_SHARE))
        self._next_variables_ns = now_ns + wait_ns

    def _grows(self, held: HeldTensors) -> float:
        """Tells what a variable holds if it got more twice, and by how many bytes it did.

        A list that is filled and cleared has more than before in one look of two.
        """
        size_bytes = held.size_bytes
        before = self._held.setdefault(
            held.holder.text, _Holding(size_bytes, size_bytes, size_bytes)
        )
        times = before.times + 1 if size_bytes > before.last_bytes else 0
        grown_bytes = size_bytes - before.first_bytes if times >= _GROWS else 0
        told_bytes = before.told_bytes
        if grown_bytes >= _LEAST_GROWN_BYTES and size_bytes >= _MORE * told_bytes:
            told_bytes = size_bytes
            numbers = {"count": held.count, "bytes": size_bytes, "grown": grown_bytes}
            self._emit_held(held.kind, held.holder, numbers)
        self._held[held.holder.text] = _Holding(before.first_bytes, size_bytes, told_bytes, times)
        return grown_bytes

    def _risen_bytes(self) -> float:
        """By how much memory has risen since it was first looked at, but for little."""
        return max([_LEAST_GROWN_BYTES, *(rise.risen_bytes for rise in self._rises.values())])

    def _can_afford(self, nanoseconds: int) -> bool:
        age_ns = self._context.clock.monotonic_ns() - self._began_ns
        return self._is_over or self._spent_ns + nanoseconds <= _SHARE * age_ns

    def _take_census(self) -> tuple[int, int]:
        """Counts, tells the largest groups, and of as many as can be afforded who holds them.

        Nobody is looked for once a variable is known that holds ever more: others hold what stays.
        """
        now_ns = self._context.clock.monotonic_ns
        began_ns = now_ns()
        census = take_census(self._tensor_class)
        self._pass_ns = now_ns() - began_ns
        self._spent_ns += self._pass_ns
        for group in census.groups[:_GROUPS]:
            began_ns = now_ns()
            holder = find_holder(
                group.samples,
                self._context.stopwatch.thread,
                self._places,
                self._scripts,
                lambda: (
                    not self._is_known and self._can_afford(self._pass_ns + now_ns() - began_ns)  # noqa: B023
                ),
            )
            self._tell(group, holder, census)
            self._spent_ns += now_ns() - began_ns
            if self._is_over and self._is_named:
                break  # the program wants to end
        return census.count, census.size_bytes

    def _tell(self, group: TensorGroup, holder: Holder, census: Census) -> None:
        numbers = {
            "count": group.count,
            "bytes": group.size_bytes,
            "live_tensors": census.count,
            "live_tensor_bytes": census.size_bytes,
        }
        self._emit_held(group.kind, holder, numbers)
        self._is_named |= bool(holder.text)

    def _emit_held(self, kind: str, holder: Holder, numbers: Mapping[str, float]) -> None:
        text = f"{kind} in {holder.text}" if holder.text else kind
        self._context.emit(Fact(TENSOR_CENSUS, text, numbers))
        if holder.place:
            self._context.emit(Fact(TENSORS_ADDED_AT, f"{holder.place}|{text}"))


def _expected_pass_ns() -> int:
    return int(sys.getallocatedblocks() * _SECONDS_PER_BLOCK * 1e9)


class MemoryRise:
    """Whether a number of bytes rises from one stretch of samples to the next.

    Of each stretch the lowest value counts: what comes and goes with a step is no rise.

    Example:
      >>> rise = MemoryRise()
      >>> for sample in range(40):
      ...     rise.note(100e6 + 1e6 * sample)
      >>> rise.is_rising
      True
      >>> for sample in range(40):
      ...     rise.note(140e6 + 50e6 * (sample % 2))
      >>> rise.is_rising
      False
      >>> rise = MemoryRise()
      >>> for sample in range(15):
      ...     rise.note(530e6 if sample < 5 else 559e6 + 0.1e6 * sample)
      >>> rise.is_rising
      False
    """

    _SAMPLES: Final = 5
    _STRETCHES: Final = 3
    _LEAST_BYTES: Final = 4 * 2**20
    """Less than what an idle process gains and loses by itself."""
    _LEAST_EACH: Final = 2**20
    """From each stretch to the next: what a program takes once, when it begins, is no rise."""

    def __init__(self) -> None:
        self._values: list[float] = []
        self._lowest: list[float] = []
        self._first: list[float] = []

    @property
    def is_rising(self) -> bool:
        """Whether the last three stretches rise, by 4 MiB in all and 1 MiB each."""
        return self._rises(self._lowest)

    @property
    def risen_bytes(self) -> float:
        """By how much the last stretch is above the lowest of the first samples."""
        last = self._lowest[-1] if self._lowest else min(self._values, default=0.0)
        return max(0.0, last - min(self._first, default=last))

    @property
    def has_risen(self) -> bool:
        """Whether the run has risen so at its end, by thirds of its samples where they are few."""
        size = len(self._first) // self._STRETCHES
        if len(self._first) == self._SAMPLES * self._STRETCHES or not size:
            return self.is_rising
        return self._rises([min(self._first[n * size :][:size]) for n in range(self._STRETCHES)])

    def _rises(self, lowest: list[float]) -> bool:
        if len(lowest) < self._STRETCHES or lowest[-1] - lowest[0] < self._LEAST_BYTES:
            return False
        steps = itertools.pairwise(lowest)
        return all(after - before >= self._LEAST_EACH for before, after in steps)

    def note(self, value: float) -> None:
        """Adds a sample."""
        self._values.append(value)
        if len(self._first) < self._SAMPLES * self._STRETCHES:
            self._first.append(value)
        if len(self._values) == self._SAMPLES:
            self._lowest = [*self._lowest[1 - self._STRETCHES :], min(self._values)]
            self._values.clear()
