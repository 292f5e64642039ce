"""Which stage of a `tf.data` pipeline takes the time, by tf.data's own model.

Needs TensorFlow 2.19 or later, and datasets whose autotuning is on (the
default). Cost: 15 us every 10 s in the background, 1 us an iterator made.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tb_slowdown_plugin.collectors.base import Context, Unavailable
from tb_slowdown_plugin.collectors.method_hooks import Method, MethodHooks
from tb_slowdown_plugin.records.types import Fact

_INTERVAL_NS: Final = 10_000_000_000
_FEWEST_ELEMENTS: Final = 10
"""Fewer say little: the first ones fill caches and start threads."""
_CHANGED: Final = 1.5
"""A stage that takes this many times as long (or as short) as told is told again."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One transformation of the pipeline, as tf.data's model sees it."""

    name: str
    """"Map", "ParallelMapV2", "BatchV2" ... with its place from the end, "Map#3"."""
    seconds_per_element: float
    """CPU and waiting time in the stage itself, for each element that it made."""
    elements: int
    buffered_elements: int
    share: float
    """Of the time of all stages."""


class InputStages:
    """Records the slowest stage of the training data: when it is known, and when it changes.

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
        from tensorflow.python.data.ops import iterator_ops

        if not hasattr(tf.data.experimental, "get_model_proto"):
            raise Unavailable("this TensorFlow tells no model of tf.data; 2.19 does")
        self._read_model: Any = tf.data.experimental.get_model_proto
        self._executing_eagerly = tf.executing_eagerly
        self._no_model = tf.errors.NotFoundError
        self._context = context
        self._iterator: weakref.ref[Any] | None = None
        self._told: Stage | None = None
        self._next_ns = 0
        self._hooks = MethodHooks()
        self._hooks.replace(iterator_ops.OwnedIterator, "__init__", self._made)

    def read(self) -> Mapping[str, float]:
        """Asks the model, at most every 10 s; what it says is an event, not a signal."""
        now = self._context.clock.monotonic_ns()
        iterator = self._iterator() if self._iterator is not None else None
        if iterator is None or now < self._next_ns:
            return {}
        self._next_ns = now + _INTERVAL_NS
        try:
            slowest = find_slowest(self._read_model(iterator).nodes)
        except self._no_model:  # its autotuning is off
            return {}
        if slowest is not None and _is_news(slowest, self._told):
            self._told = slowest
            self._context.emit(_fact(slowest))
        return {}

    def stop(self) -> None:
        """Puts TensorFlow's method back."""
        self._hooks.remove()

    def _made(self, init: Method) -> Method:
        @functools.wraps(init)
        def make(iterator: Any, *args: Any, **kwargs: Any) -> None:
            init(iterator, *args, **kwargs)
            watch = self._context.stopwatch
            if (
                self._executing_eagerly()
                and (watch.thread == 0 or watch.is_mine())
                and not watch.is_open("validation")
            ):
                self._iterator = weakref.ref(iterator)

        return make


def find_slowest(nodes: Mapping[int, Any]) -> Stage | None:
    """The stage that takes the most time an element, None before enough elements were made.

    Args:
      nodes: `ModelProto.nodes` of `tensorflow/core/framework/model.proto`:
        number from the end -> name, `num_elements`, `processing_time` in ns.
    """
    total = sum(node.processing_time for node in nodes.values())
    stages = [
        Stage(
            f"{node.name}#{number}",
            node.processing_time / 1e9 / node.num_elements,
            node.num_elements,
            node.buffered_elements,
            node.processing_time / total if total else 0.0,
        )
        for number, node in nodes.items()
        if node.num_elements >= _FEWEST_ELEMENTS
    ]
    return max(stages, key=lambda stage: stage.share, default=None)


def _is_news(stage: Stage, told: Stage | None) -> bool:
    if told is None or told.name != stage.name:
        return True
    before, now = sorted((told.seconds_per_element, stage.seconds_per_element))
    return now > _CHANGED * before


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
