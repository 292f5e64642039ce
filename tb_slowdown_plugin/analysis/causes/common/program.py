"""What the record says about the program itself: what it uses, and what is on already."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.events import HALF_PRECISION, KERAS_FIT, TENSORBOARD_CALLBACK
from tb_slowdown_plugin.records.types import Epoch, Fact, Run, Trace

_KERAS_STEP: Final = "Keras train step"
_FILES: Final = frozenset({"TFRecord", "TextLine", "FixedLengthRecord", "ParallelInterleave"})


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

    def comes_before(self, first: str, second: str) -> bool:
        """Whether a stage of a kind stands before one of another kind, parallel or not."""
        kinds = [stage.removeprefix("Parallel") for stage in self.stages]
        return first in kinds and second in kinds[kinds.index(first) :]

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


@dataclass(frozen=True, slots=True)
class Board:
    """What Keras's `TensorBoard` callback does; all of it where nothing is recorded."""

    histograms: bool = True
    batches: bool = True
    """It writes after single batches."""
    profiles: bool = True

    @property
    def is_quiet(self) -> bool:
        """Whether it writes no more than it must."""
        return not (self.histograms or self.batches or self.profiles)

    @classmethod
    def of(cls, facts: Iterable[Fact]) -> Board:
        """What all such callbacks of a run do, together."""
        told = [fact.numbers for fact in facts if fact.name == TENSORBOARD_CALLBACK]
        if not told:
            return cls()
        options = ("histograms", "batches", "profiles")
        return cls(*(any(numbers.get(name, 1.0) for numbers in told) for name in options))


UNKNOWN_BOARD: Final = Board()
"""Of which nothing is recorded."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program, as far as its record goes."""

    pipeline: Pipeline | None = None
    """None where not recorded."""
    arrays: bool = False
    """Keras's `fit` is given arrays."""
    in_fit: bool = False
    """Keras's `fit` or `train_on_batch` runs the steps."""
    steps: int = 0
    """0 where not known; likewise below."""
    seconds: float = 0.0
    epochs: int = 0
    saves: bool = False
    summaries: bool = False
    savers: frozenset[str] = frozenset()
    keeps_few: bool = False
    """A `CheckpointManager` deletes old checkpoints."""
    declared: frozenset[str] = frozenset()
    """Functions (and places) that have an `input_signature`."""
    generalized: frozenset[str] = frozenset()
    """Functions (and places) that have `reduce_retracing=True`."""
    steps_per_execution: int = 1
    """Batches that one call of Keras trains on; 1 also where not known."""
    half_precision: bool = False
    board: Board = UNKNOWN_BOARD

    @property
    def full_batches(self) -> bool:
        """Whether the pipeline leaves out a smaller last batch."""
        return self.pipeline is not None and bool(self.pipeline.numbers.get("full_batches"))

    @property
    def shuffle_buffer(self) -> int:
        """Elements that the pipeline's shuffle buffer holds; 0 where not known."""
        return round(self.pipeline.numbers.get("shuffle_buffer", 0)) if self.pipeline else 0

    @classmethod
    def of(cls, run: Run) -> Program:
        """What is recorded of a run's program."""
        facts = [event.what for event in run.events if isinstance(event.what, Fact)]
        pipelines = [
            Pipeline(tuple(fact.subject.split()), fact.numbers)
            for fact in facts
            if fact.name == names.INPUT_PIPELINE
        ]
        options = [fact for fact in facts if fact.name == names.FUNCTION_OPTIONS]
        traces = [event.what for event in run.events if isinstance(event.what, Trace)]
        families = {names.family(account) for account in run.steps.accounts}
        return cls(
            pipelines[-1] if pipelines else None,
            any(pipeline.numbers.get("arrays") for pipeline in pipelines),
            names.CALLBACK in families or any(trace.function == _KERAS_STEP for trace in traces),
            len(run.steps) * run.steps_per_row,
            float(run.steps.period_seconds.sum()),
            sum(isinstance(event.what, Epoch) for event in run.events),
            names.CHECKPOINT in families,
            names.SUMMARY in families,
            frozenset(fact.subject for fact in facts if fact.name == "checkpoint"),
            any(fact.numbers.get("keeps") for fact in facts if fact.name == "checkpoint"),
            _with_option(options, "input_signature"),
            _with_option(options, "reduce_retracing"),
            _steps_per_execution(facts),
            any(fact.name == HALF_PRECISION for fact in facts),
            Board.of(facts),
        )

    def declares(self, trace: Trace) -> bool:
        """Whether the function of a trace has an `input_signature`."""
        return key_of(trace) in self.declared

    def generalizes(self, trace: Trace) -> bool:
        """Whether the function of a trace has `reduce_retracing=True`."""
        return key_of(trace) in self.generalized


def key_of(trace: Trace) -> str:
    """A function and its place, as the trace hook records its options.

    Example:
      >>> key_of(Trace(1, "train_step", "train.py:41", 1.0, 1.0, "first"))
      'train_step (train.py:41)'
    """
    return f"{trace.function} ({trace.location})"


def _with_option(options: list[Fact], option: str) -> frozenset[str]:
    return frozenset(fact.subject for fact in options if fact.numbers.get(option))


def _steps_per_execution(facts: list[Fact]) -> int:
    told = [
        fact.numbers.get("steps_per_execution", 1.0) for fact in facts if fact.name == KERAS_FIT
    ]
    return int(told[-1]) if told else 1


UNKNOWN: Final = Program()
"""Of which nothing is recorded."""

SHUFFLES: Final = Program(Pipeline(("TensorSlice", "Map", "Shuffle", "Cache", "Batch", "Prefetch")))
"""An example: it shuffles after the expensive stage, and caches after that."""
