"""Which run of a jitted graph had shapes or values that XLA compiled for, and what it took.

The jitted function may be called by a graph that hands its own arguments on to it: Keras's
`predict_on_batch` is one, and what a strategy runs. XLA compiles inside of that graph, for what
Python sees as the arguments of the graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from tb_slowdown_plugin.collectors.xla.constant_inputs import NeededValue, arguments_of
from tb_slowdown_plugin.collectors.xla.graph_calls import NotedCall

_STEADY_RUNS: Final = 2
"""The first run of a shape compiles; the second is timed as a steady one."""

_LEAST_NS: Final = 2_000_000

_LEAST_SHARE: Final = 0.05
"""A run that takes this much longer than the fastest one may have compiled: the smallest
graph takes XLA 15 ms (2.21, measured)."""

_EARLY_RUNS: Final = 10
"""So many runs are looked at however long they take: what is usual is not known yet."""

_LEAST_SHARE_OF_LOOP: Final = 0.3
"""The same for a loop of several steps, whose shapes are only known as a sum."""

Shapes: TypeAlias = tuple[Any, ...]

Values: TypeAlias = tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Compilation:
    """A run with new shapes, or with new values of what XLA needs as constants."""

    subject: str
    excess_ns: int
    """What it took beyond a steady run; the whole run where nothing has come twice yet."""
    shapes_seen: int
    values_seen: int = 1


@dataclass(slots=True)
class ShapesInPython:
    """Of a jitted graph that Python calls: what each call is given is looked at.

    Cost: 1 us a call, and 0.5 us for each input of which the shape varies, 1.5 us for each
    argument and 15 us for each variable of which XLA needs the value.
    """

    subject: str
    varying: list[int]
    """Places of the inputs whose shape is open."""
    needed: Sequence[NeededValue] = ()
    _runs: dict[tuple[Shapes, Values], int] = field(default_factory=dict)
    _shapes: set[Shapes] = field(default_factory=set)
    _values: set[Values] = field(default_factory=set)
    _steady_ns: int = 0

    def look(self, arguments: Any, captures: Any) -> tuple[Shapes, Values]:
        """What XLA compiles for, read before the run: that may assign a variable."""
        shapes = tuple([arguments[index]._shape_tuple() for index in self.varying])
        return shapes, tuple([each.read(arguments, captures) for each in self.needed])

    def note(self, given: tuple[Shapes, Values], took_ns: int) -> Compilation | None:
        """A run is over; the first one of all belongs to its trace."""
        run = self._runs.get(given, 0) + 1
        if run > _STEADY_RUNS:
            return None
        self._runs[given] = run
        if run == _STEADY_RUNS:
            self._steady_ns = min(self._steady_ns or took_ns, took_ns)
            return None
        self._shapes.add(given[0])
        self._values.add(given[1])
        if len(self._runs) == 1:
            return None
        excess_ns = max(0, took_ns - self._steady_ns)
        return Compilation(self.subject, excess_ns, len(self._shapes), len(self._values))


@dataclass(slots=True)
class ShapesNoted:
    """Of a graph around a jitted call: what the graph has noted is read where a run took long.

    The first run with new shapes is always long, so that all shapes get known.

    Cost: 1 us a call; 8 us where the run took longer than usual, or loops over several steps.
    """

    call: NotedCall
    _seen: set[tuple[int, ...]] = field(default_factory=set)
    _noted: tuple[int, ...] = field(init=False)
    _fastest_ns: int = 0
    _runs: int = 0

    def __post_init__(self) -> None:
        self._noted = self.call.read()  # an earlier graph of the same function may have added

    def look(self, arguments: Any, captures: Any) -> None:
        """Nothing: the graph does."""

    def note(self, given: None, took_ns: int) -> Compilation | None:  # noqa: ARG002 - in the graph
        """A run is over; the first one of all belongs to its trace."""
        fastest_ns = self._fastest_ns
        adds_up = self.call.adds_up
        share = _LEAST_SHARE_OF_LOOP if adds_up else _LEAST_SHARE
        is_long = not fastest_ns or took_ns > fastest_ns + max(_LEAST_NS, share * fastest_ns)
        is_first = not self._seen
        self._runs += 1
        is_new = (is_long or adds_up or self._runs <= _EARLY_RUNS) and self._read_new()
        if is_new and (is_long or not adds_up):
            if is_first:
                return None
            excess_ns = max(0, took_ns - fastest_ns)
            shapes, values = zip(*map(self.call.split, self._seen), strict=True)
            return Compilation(self.call.subject, excess_ns, len(set(shapes)), len(set(values)))
        self._fastest_ns = min(fastest_ns or took_ns, took_ns)
        return None

    def _read_new(self) -> bool:
        """Whether the graph has noted shapes and values, or sums of them, for the first time."""
        shapes = noted = self.call.read()
        if self.call.adds_up:
            shapes = tuple([a - b for a, b in zip(noted, self._noted, strict=True)])
            self._noted = noted
        known = len(self._seen)
        self._seen.add(shapes)
        return len(self._seen) > known


@dataclass(frozen=True, slots=True)
class HandedOn:
    """A call in a graph that is being traced: by names, for tensors would keep the graph."""

    subject: str
    """The jitted function."""
    inputs: tuple[str, ...]
    """Tensors of which it leaves the shape open."""
    needed: tuple[tuple[str, NeededValue], ...]
    """Tensors of which XLA needs the value."""

    @classmethod
    def of(
        cls, subject: str, inputs: Sequence[Any], needed: Iterable[tuple[Any, NeededValue]]
    ) -> HandedOn:
        """The call with these tensors of the graph."""
        named = tuple((tensor.name, value) for tensor, value in needed)
        return cls(subject, tuple(tensor.name for tensor in inputs), named)

    def shapes_in(self, function: Any) -> ShapesInPython | None:
        """What to look at when the `ConcreteFunction` of that graph is called.

        Returns:
          None where nothing of it is an argument of the function.
        """
        arguments = arguments_of(function)
        places = {tensor.name: place for place, tensor in enumerate(arguments)}
        varying = [
            places[name]
            for name in self.inputs
            if name in places and not arguments[places[name]].shape.is_fully_defined()
        ]
        needed = [
            replace(value, place=places[name]) for name, value in self.needed if name in places
        ]
        if not (varying or needed):
            return None
        return ShapesInPython(self.subject, varying, needed)
