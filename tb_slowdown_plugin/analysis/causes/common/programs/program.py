"""What the record says about the program itself: what it uses, and what is on already."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.programs.pipeline import Pipeline
from tb_slowdown_plugin.analysis.prepare.recorded_run import epoch_rows, input_facts
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.events import (
    HALF_PRECISION,
    KERAS_FIT,
    PLANNED_STEPS,
    PY_DATASET,
    TENSORBOARD_CALLBACK,
)
from tb_slowdown_plugin.catalog.parameters.shared import ENOUGH_STEPS
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Epoch, Fact, Trace

KERAS_STEP: Final = "Keras train step"
"""What traces call the function that `fit` and `train_on_batch` run."""


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
        """What all such callbacks of a run do, together; each has told one of these facts."""
        told = [fact.numbers for fact in facts]
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
    epoch_steps: int = 0
    """Of one epoch."""
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
    hands_over: bool = False
    """A strategy of `tf.distribute` hands each batch to its devices."""
    board: Board = UNKNOWN_BOARD
    makes_batches: bool = False
    """Its own loop, or a `PyDataset`, feeds the steps without `tf.data`; False also where nobody
    looked."""

    @property
    def full_batches(self) -> bool:
        """Whether the pipeline leaves out a smaller last batch."""
        return self.pipeline is not None and bool(self.pipeline.numbers.get("full_batches"))

    @property
    def shuffle_buffer(self) -> int:
        """Elements that the pipeline's shuffle buffer holds; 0 where not known."""
        return round(self.pipeline.numbers.get("shuffle_buffer", 0)) if self.pipeline else 0

    @property
    def batches_a_call(self) -> int:
        """Batches that one call of Keras could train on; 1 where several gain nothing.

        Example:
          >>> [Program(epoch_steps=steps).batches_a_call for steps in (1, 7, 24, 0)]
          [1, 1, 12, 16]
        """
        if self.steps_per_execution > 1 or 0 < self.epoch_steps < ENOUGH_STEPS:
            return 1
        return min(16, self.epoch_steps // 2 or 16)

    @classmethod
    def of(cls, run: Run) -> Program:
        """What is recorded of a run's program."""
        pipelines = [
            Pipeline(tuple(fact.subject.split()), fact.numbers)
            for fact in input_facts(run, names.INPUT_PIPELINE)
        ]
        known = [pipeline for pipeline in pipelines if not pipeline.is_handed_over]
        options = [fact for _, fact in run.facts(names.FUNCTION_OPTIONS)]
        checkpoints = [fact for _, fact in run.facts("checkpoint")]
        is_keras = any(trace.function == KERAS_STEP for _, trace in run.all_of(Trace))
        families = {names.family(account) for account in run.steps.accounts}
        is_fit = names.CALLBACK in families or is_keras
        return cls(
            known[-1] if known else None,
            any(pipeline.numbers.get("arrays") for pipeline in pipelines),
            is_fit,
            len(run.steps) * run.steps_per_row,
            float(run.steps.period_seconds.sum()),
            len(run.all_of(Epoch)),
            _epoch_steps(run),
            names.CHECKPOINT in families,
            names.SUMMARY in families,
            frozenset(fact.subject for fact in checkpoints),
            any(fact.numbers.get("keeps") for fact in checkpoints),
            _with_option(options, "input_signature"),
            _with_option(options, "reduce_retracing"),
            _steps_per_execution(run),
            bool(run.facts(HALF_PRECISION)),
            any(each.is_handed_over or each.is_over_devices for each in pipelines),
            Board.of([fact for _, fact in run.facts(TENSORBOARD_CALLBACK)]),
            bool(run.facts(PY_DATASET))
            or (not (is_fit or pipelines) and _makes_batches(run, families)),
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


def _epoch_steps(run: Run) -> int:
    """As Keras planned them, else by the median epoch that is over."""
    plans = [fact.numbers for _, fact in run.facts(PLANNED_STEPS)]
    planned = [numbers["steps"] for numbers in plans if "steps" in numbers]
    begins = epoch_rows(run)
    if planned:
        return round(planned[-1])
    return round(float(np.median(np.diff(begins)))) * run.steps_per_row if len(begins) > 1 else 0


def _steps_per_execution(run: Run) -> int:
    told = [fact.numbers.get("steps_per_execution", 1.0) for _, fact in run.facts(KERAS_FIT)]
    return int(told[-1]) if told else 1


UNKNOWN: Final = Program()
"""Of which nothing is recorded."""
SHUFFLES: Final = Program(Pipeline(("TensorSlice", "Map", "Shuffle", "Cache", "Batch", "Prefetch")))
"""An example: it shuffles after the expensive stage, and caches after that."""


def _makes_batches(run: Run, families: Collection[str]) -> bool:
    running = {each.name for each in run.environment.collectors if each.status == "running"}
    return names.INPUT_WAIT not in families and {"input_wait", "input_stages"} <= running
