"""What the record says about a pipeline of the program: its stages, and what is so of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from tb_slowdown_plugin.catalog.names import OVER_DEVICES

_FILES: Final = frozenset({"TFRecord", "TextLine", "FixedLengthRecord", "ParallelInterleave"})
_MAPS: Final = frozenset({"Map", "ParallelMap"})
_BATCHES: Final = frozenset({"Batch", "ParallelBatch", "PaddedBatch"})
_CHEAP: Final = frozenset(
    {"Tensor", "TensorSlice", "Range", "Zip", "Concatenate", "Enumerate", "Take", "Skip", "Shard"}
    | {"Repeat", "Shuffle", "Prefetch", "Cache", "Unbatch", "Rebatch", "Window", *_BATCHES}
)
"""Stages that only hand on or gather what is in memory."""
RUN_FUNCTIONS: Final = ("Generator", "Interleave", "Map", "Filter", "Scan")
"""In the kinds of stages that run functions of the program: `FlatMap`, `ParallelMapV2`."""
_HANDS_OVER: Final = "PerDeviceGenerator"
"""How the source ends that a strategy's iterator has for each of its devices."""
_HAND_ON: Final = frozenset({"Prefetch", "Take", "Skip", "Repeat", "Enumerate", "Zip"})
"""Stages that neither work nor gather."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The `tf.data` pipeline of the training data, as the program wrote it."""

    stages: tuple[str, ...]
    """From the source to the end: ("TensorSlice", "Shuffle", "Map", "Batch", "Prefetch")."""
    numbers: Mapping[str, float] = field(default_factory=dict)
    """`names.INPUT_PIPELINE`: "shuffle_buffer", "python", "arrays" ..."""

    def has(self, stage: str) -> bool:
        """Whether there is such a stage."""
        return stage in self.stages

    @property
    def is_handed_over(self) -> bool:
        """Whether TensorFlow made it, to hand the batches of another one to a strategy's devices.

        Example:
          >>> Pipeline(("ReincarnatedPerDeviceGenerator", "Prefetch")).is_handed_over
          True
        """
        return bool(self.stages) and self.stages[0].endswith(_HANDS_OVER)

    @property
    def is_over_devices(self) -> bool:
        """Whether a strategy hands its batches to devices."""
        return bool(self.numbers.get(OVER_DEVICES))

    def comes_before(self, first: str, second: str) -> bool:
        """Whether the program has a stage of a kind before one of another kind, parallel or not."""
        own = (stage if self._is_own(place) else "" for place, stage in enumerate(self.stages))
        kinds = [stage.removeprefix("Parallel") for stage in own]
        return first in kinds and second in kinds[kinds.index(first) :]

    @property
    def same(self) -> int:
        """How many stages, from the source, end and give the same elements in each pass.

        What a Python generator gives is not known to be the same.

        Example:
          >>> stages = ("TFRecord", "Map", "Map", "Repeat", "Batch")
          >>> Pipeline(stages).same, Pipeline(stages, {"random": 2.0, "endless": 3.0}).same
          (5, 2)
        """
        if self.numbers.get("generator"):
            return 0
        varying = (self.numbers.get(name, len(self.stages)) for name in ("random", "endless"))
        return int(min(varying))

    @property
    def is_endless(self) -> bool:
        """Whether its source never runs out of elements, or its `repeat`."""
        return "endless" in self.numbers

    def place_of(self, stage: str) -> int | None:
        """The place of the stage that tf.data's model calls "Map#3"; None where it is not sure.

        The model counts from the end of the optimized pipeline, its root being 1: stages can be
        inserted and run in parallel there, and a `map` right before a `batch` becomes one with it.

        Example:
          >>> Pipeline(("Range", "Map", "Batch", "Map")).place_of("ParallelMapV2#2")
          3
          >>> pipeline = Pipeline(("Range", "Map", "Map", "Batch", "Prefetch"))
          >>> pipeline.place_of("ParallelMapV2#4"), pipeline.place_of("MapAndBatch#3")
          (1, 2)
          >>> pipeline.place_of("Map#7") is None
          True
        """
        kind, _, number = stage.partition("#")
        kinds = [each.removeprefix("Parallel") for each in self.stages]
        kind = re.sub(r"V\d$", "", kind).removeprefix("Parallel")
        following = pairwise(self.stages)  # a parallel batch is left alone
        fused = [n for n, (one, other) in enumerate(following) if one in _MAPS and other == "Batch"]
        if kind == "MapAndBatch":
            return fused[0] if len(fused) == 1 else None
        if kinds.count(kind) == 1:
            return kinds.index(kind)
        with_fusion = [n for n in range(len(kinds)) if n - 1 not in fused]
        for places in (with_fusion, range(len(kinds))):  # a program can turn it off
            nth = len(places) + 1 - int(number) if number.isdecimal() else -1
            if 0 <= nth < len(places) and kinds[places[nth]] == kind:
                return places[nth]
        return None

    @property
    def running(self) -> tuple[int, ...]:
        """The places of the stages that run a function of the program."""
        return tuple(
            n for n, kind in enumerate(self.stages) if any(each in kind for each in RUN_FUNCTIONS)
        )

    def can_cache(self, slow: str = "") -> bool:
        """Whether there is work that a `cache` would spare: that of the slow stage, where known."""
        place = self.place_of(slow)
        if place is not None and place >= self.same:
            return False
        return not _CHEAP.issuperset(self.stages[: self.same])

    def caches(self, slow: str = "") -> bool:
        """Whether it has a `cache`, behind the slow stage where that is known."""
        place = self.place_of(slow)
        return "Cache" in self.stages[0 if place is None else place :]

    @property
    def shuffles_first(self) -> bool:
        """Whether a `shuffle` is before the last work that gives the same elements each time."""
        return "Shuffle" in self._before_same_work

    @property
    def caches_first(self) -> bool:
        """Whether a `cache` is before that work, so that the work is done again in each pass."""
        return "Cache" in self._before_same_work

    @property
    def _before_same_work(self) -> tuple[str, ...]:
        working = [n for n, kind in enumerate(self.stages[: self.same]) if kind not in _CHEAP]
        return self.stages[: max(working, default=0)]

    @property
    def buffers_same_work(self) -> bool:
        """Whether work that is the same in each pass fills a shuffle buffer, with no `cache`.

        Example:
          >>> stages = ("TensorSlice", "Map", "Shuffle", "Map", "Batch")
          >>> Pipeline(stages, {"random": 3.0}).buffers_same_work
          True
          >>> Pipeline(stages, {"random": 1.0}).buffers_same_work
          False
        """
        shuffles = [n for n, kind in enumerate(self.stages) if kind == "Shuffle"]
        before = self.stages[: min(shuffles[-1], self.same)] if shuffles else ()
        return not _CHEAP.issuperset(before) and "Cache" not in before

    @property
    def skips_work(self) -> bool:
        """Whether the program skips elements that a stage before has worked on.

        Example:
          >>> stages = [("Range", "Map", "Batch", "Skip", "Take"), ("Range", "Skip", "Map")]
          >>> [Pipeline(each).skips_work for each in stages]
          [True, False]
        """
        skips = [n for n, kind in enumerate(self.stages) if kind == "Skip" and self._is_own(n)]
        return bool(skips) and not _CHEAP.issuperset(self.stages[: skips[-1]])

    @property
    def is_prefetched(self) -> bool:
        """Whether a `prefetch` is behind the last stage that works or gathers batches."""
        working = [n for n, kind in enumerate(self.stages) if kind not in _HAND_ON]
        return "Prefetch" in self.stages[max(working, default=0) :]

    def has_own(self, kind: str, slow: str = "") -> bool:
        """Whether the program's code adds a stage of a kind; the slow one, where it is of it."""
        place = self.place_of(slow)
        if place is not None and self.stages[place] == kind:
            return self._is_own(place)
        return any(each == kind and self._is_own(n) for n, each in enumerate(self.stages))

    def maps_examples(self, slow: str = "") -> bool:
        """Whether a function of the program's runs on single examples, batched later.

        Args:
          slow: The stage that takes the time, as tf.data's model calls it.
        """
        batches = [place for place, kind in enumerate(self.stages) if kind in _BATCHES]
        place = self.place_of(slow)
        maps = [n for n, kind in enumerate(self.stages) if kind in _MAPS]
        if place is not None and place in maps:
            maps = [place]
        own = [each for each in maps if self._is_own(each)]
        return bool(own) and bool(batches) and all(each < batches[0] for each in own)

    def _is_own(self, place: int) -> bool:
        """Whether the program's code adds a stage, and not a library's that makes the dataset."""
        return not int(self.numbers.get("library", 0)) >> place & 1

    @classmethod
    def of_capture(cls, stage: str) -> Pipeline:
        """What a profiler capture shows of it: the stages from the end to the slowest one.

        Example:
          >>> Pipeline.of_capture("Iterator::Root::Prefetch::ParallelMapV2").stages
          ('ParallelMap', 'Prefetch')
        """
        kinds = [re.sub(r"V\d$", "", kind) for kind in stage.split("::")]
        return cls(tuple(kind for kind in reversed(kinds) if kind not in ("Iterator", "Root")))

    @property
    def reads_files(self) -> bool:
        """Whether it reads records or lines from files."""
        return not _FILES.isdisjoint(self.stages)
