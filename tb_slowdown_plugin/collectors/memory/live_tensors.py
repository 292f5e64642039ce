"""Which tensors are alive and who holds them, looked at only while memory grows.

Cost: 60 us a second. What the program's variables hold is looked at as soon as memory rises, ever
more rarely, and told where it got more twice. A census takes 0.06 to 0.5 s in the
background, holds up Python meanwhile, and is taken only where all of them together stay below 0.5%
of the wall time: first after some 15 s, and where no variable is known yet, with the holders after
a minute. Where none has been named by the end of a run whose memory rose, it is looked once more
then, outside of training.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import CodeType
from typing import Final

from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.events import TENSOR_CENSUS, TENSORS_ADDED_AT
from tb_slowdown_plugin.collectors.base import Context, Unavailable
from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces
from tb_slowdown_plugin.collectors.memory.allocator import Allocator
from tb_slowdown_plugin.collectors.memory.growing_variables import GrowingVariables
from tb_slowdown_plugin.collectors.memory.memory_rise import MemoryRise
from tb_slowdown_plugin.collectors.memory.reachable_tensors import ReachableTensors
from tb_slowdown_plugin.collectors.memory.tensor_census import TensorGroup, take_census
from tb_slowdown_plugin.collectors.memory.tensor_holders import Holder, find_holder, find_scripts
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
_MATTERS: Final = 0.25
"""Of what memory has risen by: who holds so much more is who was looked for."""
_LEAST_RISEN_BYTES: Final = 2**20
_GROUPS: Final = 3
_MOST_PATIENT: Final = 64


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
        self._variables = GrowingVariables(
            ReachableTensors(self._tensor_class, self._places),
            context.stopwatch.thread,
            context.clock.monotonic_ns,
        )
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
            self._look_at_variables()
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

    def _look_at_variables(self) -> None:
        """Tells what variables hold ever more."""
        for each in self._variables.look(self._scripts):
            if each.is_news:
                self._tell(each.held.tensors, each.held.holder, {"grown": each.grown_bytes})
            if each.grown_bytes >= _MATTERS * self._risen_bytes():
                self._is_named = self._is_known = True

    def _risen_bytes(self) -> float:
        """By how much memory has risen since it was first looked at, but for little."""
        return max([_LEAST_RISEN_BYTES, *(rise.risen_bytes for rise in self._rises.values())])

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
            self._tell(
                group,
                holder,
                {"live_tensors": census.count, "live_tensor_bytes": census.size_bytes},
            )
            self._is_named |= bool(holder.text)
            self._spent_ns += now_ns() - began_ns
            if self._is_over and self._is_named:
                break  # the program wants to end
        return census.count, census.size_bytes

    def _tell(self, group: TensorGroup, holder: Holder, beside: Mapping[str, float]) -> None:
        text = f"{group.kind} in {holder.text}" if holder.text else group.kind
        numbers = {"count": group.count, "bytes": group.size_bytes, **beside}
        self._context.emit(Fact(TENSOR_CENSUS, text, numbers))
        if holder.place:
            self._context.emit(Fact(TENSORS_ADDED_AT, f"{holder.place}|{text}"))


def _expected_pass_ns() -> int:
    return int(sys.getallocatedblocks() * _SECONDS_PER_BLOCK * 1e9)
