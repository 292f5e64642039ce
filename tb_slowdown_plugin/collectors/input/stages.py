"""Which stage of a `tf.data` pipeline takes the time, by tf.data's own model.

Needs TensorFlow 2.19 or later, and datasets whose autotuning is on (the
default). Cost: 15 us in each pass over the data, and every 10 s of a run that is not young,
in the background; 1 us an iterator made.

Also a `cache()` that never completes: each pass computes everything once more. It holds only from
the pass after the first one that read it to its end; one that is left early, or followed by `take`,
never does, and neither does one of which each pass makes a dataset anew (`stored.take(steps)`).
TensorFlow warns of it in its log alone.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import FrameType
from typing import Any, Final

from tb_slowdown_plugin.catalog.events import INPUT_AT, INPUT_FILTERED, INPUT_FUNCTION
from tb_slowdown_plugin.catalog.names import OVER_DEVICES, PREDICT, VALIDATION, family
from tb_slowdown_plugin.collectors.base import Context, Unavailable
from tb_slowdown_plugin.collectors.hooks.installed_code import calling_line
from tb_slowdown_plugin.collectors.hooks.method_hooks import Method, MethodHooks
from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces
from tb_slowdown_plugin.collectors.input.dataset_passes import DatasetPasses
from tb_slowdown_plugin.collectors.input.pipeline_model import (
    Filtered,
    Stage,
    find_filtered,
    find_slowest,
    has_unfilled_cache,
)
from tb_slowdown_plugin.collectors.input.pipeline_stages import describe_pipeline, functions_of
from tb_slowdown_plugin.collectors.input.stage_lines import StageLines
from tb_slowdown_plugin.records.types import Fact

_INTERVALS_NS: Final = (1_000_000_000, 10_000_000_000)
"""Least and most between two looks at the stages: each is twice as long as the one before,
because a young run may be over soon."""

_MOST_LOOKS: Final = 64
"""At datasets, for their stages: a program may make a new one in each step."""

_MOST_LINES: Final = 5
"""Lines that begin passes, of which a record has the place."""

_CHANGED: Final = 1.5
"""A stage that takes this many times as long (or as short) as told is told again."""


class InputStages:
    """Records the slowest stage of the training data: when it is known, and when it changes.

    And a `cache()` that never completes, once (see `has_unfilled_cache`), what a `filter` throws
    away behind stages that work (see `find_filtered`), and which stages the pipeline has (see
    `pipeline_stages`), where they are others than before.

    The training data is the iterator that the training thread made last outside
    of validation, as long as it is alive.
    """

    name = "input_stages"

    def start(self, context: Context) -> None:
        """Takes note of iterators.

        Raises:
          Unavailable: This TensorFlow tells no model.
        """
        import tensorflow as tf
        from tensorflow.python.data.ops import iterator_ops, multi_device_iterator_ops

        if not hasattr(tf.data.experimental, "get_model_proto"):
            raise Unavailable("needs the tf.data model (TensorFlow 2.19 or later)")
        self._read_model: Any = tf.data.experimental.get_model_proto
        self._executing_eagerly = tf.executing_eagerly
        self._no_model = tf.errors.NotFoundError
        self._context = context
        self._iterator: weakref.ref[Any] | None = None
        self._told: Stage | None = None
        self._told_filter: Filtered | None = None
        self._next_ns = 0
        self._interval_ns, self._longest_ns = _INTERVALS_NS
        self._passes = DatasetPasses(context.steps_finished)
        self._pass = 0
        self._looked_at = 0
        self._told_cache = False
        self._pipeline: Fact | None = None
        self._looks = 0
        self._lines: set[tuple[str, int]] = set()
        self._places = SourcePlaces.of_process()
        self._hooks = MethodHooks(self.name, context.failure_of(self.name))
        self._hooks.replace(iterator_ops.OwnedIterator, "__init__", self._made)
        over_devices = getattr(multi_device_iterator_ops, "OwnedMultiDeviceIterator", None)
        if over_devices is not None:
            self._hooks.replace(over_devices, "__init__", self._made_over_devices)
        self._is_over_devices = False
        self._stages = StageLines(context.steps_finished)
        self._stages.follow(self._hooks)

    def read(self) -> Mapping[str, float]:
        """Asks the model, now and then and in each pass; what it says is an event, no signal."""
        now = self._context.clock.monotonic_ns()
        reference = self._iterator  # the training thread may take it away
        iterator = reference() if reference is not None else None
        nth_pass = self._pass
        stages_due = now >= self._next_ns
        cache_due = nth_pass != self._looked_at and not self._told_cache
        if iterator is None or not (stages_due or cache_due):
            return {}
        try:
            nodes = self._read_model(iterator).nodes
        except self._no_model:  # its autotuning is off, or it has not begun
            nodes = {}
        if cache_due and nodes:
            self._looked_at = nth_pass
            self._tell_cache(nodes, nth_pass)
        if stages_due:
            self._next_ns = now + self._interval_ns
            self._interval_ns = min(2 * self._interval_ns, self._longest_ns)
            self._tell_stage(nodes)
        return {}

    def _tell_cache(self, nodes: Mapping[int, Any], nth_pass: int) -> None:
        if has_unfilled_cache(nodes, nth_pass):
            self._told_cache = True
            self._context.emit(Fact("cache_unfilled", "", {"passes": nth_pass}))

    def _tell_stage(self, nodes: Mapping[int, Any]) -> None:
        slowest = find_slowest(nodes)
        if slowest is not None and _is_news(slowest, self._told):
            self._told = slowest
            self._context.emit(_fact(slowest))
        filtered = find_filtered(nodes)
        if filtered is not None and _is_other(filtered, self._told_filter):
            self._told_filter = filtered
            numbers = {"kept": filtered.kept, "share": filtered.share}
            self._context.emit(Fact(INPUT_FILTERED, filtered.name, numbers))

    def _tell_pipeline(self, dataset: Any, over_devices: bool) -> None:
        self._looks += 1
        if self._looks > _MOST_LOOKS:
            return
        try:
            told = describe_pipeline(dataset)
            functions = dict.fromkeys(functions_of(dataset))
            lines = self._stages.tell(dataset)
        except Exception as error:  # noqa: BLE001 - datasets may be of any make
            self._context.report_failure(
                self.name, f"the stages of a dataset can't be read: {type(error).__name__}"
            )
            return
        if over_devices:
            told = replace(told, numbers={**told.numbers, OVER_DEVICES: 1.0})
        if told != self._pipeline:
            self._pipeline = told
            self._context.emit(told)
            for code, traits in functions:
                place = self._places.in_code(code, code.co_firstlineno)
                self._context.emit(Fact(INPUT_FUNCTION, place, dict.fromkeys(traits, 1.0)))
        for fact in lines:
            self._context.emit(fact)

    def _tell_line(self, frame: FrameType) -> None:
        place = calling_line(frame)
        if place[0] and place not in self._lines and len(self._lines) < _MOST_LINES:
            self._lines.add(place)
            self._context.emit(Fact(INPUT_AT, self._places.at(*place)))

    def stop(self) -> None:
        """Puts TensorFlow's methods back."""
        self._hooks.remove()
        self._stages.forget()

    def _made(self, init: Method) -> Method:
        def make(iterator: Any, *args: Any, **kwargs: Any) -> None:
            init(iterator, *args, **kwargs)
            if self._is_of_training():
                self._iterator = weakref.ref(iterator)
                if args and not self._is_over_devices:  # made of a dataset, not in a function
                    self._begin_pass(args[0], sys._getframe(1))

        return make

    def _made_over_devices(self, init: Method) -> Method:
        """A strategy's iterator, which makes one for each device: the dataset is what it is of."""

        def make(iterator: Any, *args: Any, **kwargs: Any) -> None:
            self._is_over_devices = True
            try:
                init(iterator, *args, **kwargs)
            finally:
                self._is_over_devices = False
            dataset = args[0] if args else kwargs.get("dataset")
            if dataset is not None and self._is_of_training():
                self._iterator = None  # the model is that of a device, which only hands on
                self._begin_pass(dataset, sys._getframe(1), over_devices=True)

        return make

    def _is_of_training(self) -> bool:
        watch = self._context.stopwatch
        return (
            self._executing_eagerly()
            and (watch.thread == 0 or watch.is_mine())
            and not watch.is_open(VALIDATION)
        )

    def _begin_pass(self, dataset: Any, frame: FrameType, over_devices: bool = False) -> None:
        is_other = not self._passes.is_last(dataset)
        self._pass = self._passes.begin(dataset)
        if is_other and not _is_predicting(self._context.stopwatch.opened):
            self._tell_pipeline(dataset, over_devices)
            self._tell_line(frame)


def _is_predicting(opened: Iterable[str]) -> bool:
    """Whether Keras's `predict` makes the iterator: its data are not the training data."""
    return any(family(account) == PREDICT for account in opened)


def _is_news(stage: Stage, told: Stage | None) -> bool:
    if told is None or told.name != stage.name:
        return True
    return _has_changed(told.seconds_per_element, stage.seconds_per_element)


def _is_other(filtered: Filtered, told: Filtered | None) -> bool:
    if told is None or told.name != filtered.name:
        return True
    return _has_changed(1.0 - told.kept, 1.0 - filtered.kept)


def _has_changed(before: float, now: float) -> bool:
    return max(before, now) > _CHANGED * min(before, now)


def _fact(stage: Stage) -> Fact:
    return Fact(
        "input_stage",
        stage.name,
        {
            "seconds_per_element": stage.seconds_per_element,
            "elements": stage.elements,
            "buffered_elements": stage.buffered_elements,
            "share": stage.share,
        },
    )
