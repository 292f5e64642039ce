"""What several advices are offered for: programs, waits, and retraces."""

from __future__ import annotations

from typing import Any

from tb_slowdown_plugin.analysis.causes.common.programs.pipeline import Pipeline
from tb_slowdown_plugin.analysis.causes.common.programs.program import UNKNOWN, Board, Program
from tb_slowdown_plugin.analysis.causes.compile.retrace_fixes import Retraced
from tb_slowdown_plugin.analysis.causes.data.input_wait import RecordedInputWait
from tb_slowdown_plugin.analysis.causes.startup.warm_up_fixes import SlowStart
from tb_slowdown_plugin.records.types import Change, Trace

QUIET = Board(histograms=False, batches=False, profiles=False)
ALWAYS = None
"""Instead of evidence against it: the cause itself is the condition."""


def program(stages: str = "", **more: Any) -> Program:
    """A program with this pipeline, from the source to the end."""
    names = ("python", "generator", "fitted", "shuffle_buffer", "full_batches", "random")
    names += ("endless", "library", "autotuned")
    numbers = {name: float(more.pop(name)) for name in names if name in more}
    known = Pipeline(tuple(stages.split()), numbers) if stages else None
    return Program(known, **more)


def wait(stages: str = "", stage: str = "", **more: Any) -> RecordedInputWait:
    """A wait for input in such a program."""
    fields = ("reads", "unfilled", "grows", "at_epochs", "at_ends", "workers", "python_seconds")
    fields += ("beside", "filters_late")
    own = {name: more.pop(name) for name in fields if name in more}
    return RecordedInputWait(program(stages, **more), stage, **own)


def retrace(
    *changes: tuple[str, str, str],
    cause: str = "signature",
    function: str = "train_step",
    signature: tuple[str, ...] = (),
    of: Program = UNKNOWN,
) -> Retraced:
    """A retrace for these changes: (what, before, after)."""
    made = tuple(Change("x", *change) for change in changes)
    trace = Trace(2, function, "train.py:41", 1.0, 0.5, cause, changes=made, signature=signature)
    return Retraced(trace, of)


NUMBER = ("python_number", "Python float 0.1", "Python float 0.2")
LENGTH = ("shape", "(2, 4)", "(2, 5)")
ROWS = ("shape", "(2, 4)", "(3, 4)")
OBJECT = ("python_object", "Config object, gone", "Config object, a new object")
METHOD = ("python_object", "method object, gone", "method object, a new object")
GENERATOR = ("python_object", "generator object, gone", "generator object, a new object")
SPEC = ("tf.TensorSpec(shape=[None, 4], dtype=tf.float32)",)
KERAS = "Keras train step"
MATPLOTLIB = frozenset({"matplotlib"})
GENERALIZED = Program(generalized=frozenset({"train_step (train.py:41)"}))
DECLARED = Program(declared=frozenset({"train_step (train.py:41)"}))
FROM_ARRAYS = "keras/src/trainers/data_adapters/array_data_adapter.py:9"
ON_DEVICES = "tensorflow/python/data/ops/multi_device_iterator_ops.py:9"
SLOW = SlowStart(long=True)
SAVES, SUMMARIES = Program(saves=True), Program(summaries=True)
