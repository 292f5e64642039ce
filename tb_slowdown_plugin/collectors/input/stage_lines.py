"""The lines that make the stages of a `tf.data` pipeline: a dataset doesn't know its own.

Cost: 17 us a stage that is made, which takes 0.5 ms by itself, and 10 us a stage of a pipeline that
is looked at.
"""

from __future__ import annotations

import contextlib
import sys
import weakref
from collections.abc import Callable, Generator, Mapping
from typing import Any, Final

from tb_slowdown_plugin.catalog.events import MADE_ANEW, STAGE_AT, VARYING
from tb_slowdown_plugin.collectors.hooks.installed_code import calling_line
from tb_slowdown_plugin.collectors.hooks.method_hooks import MethodHooks
from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces
from tb_slowdown_plugin.collectors.input.pipeline_stages import first_varying, stages_by_kind
from tb_slowdown_plugin.records.types import Fact

_MOST_STAGES: Final = 1024
"""Stages alive at once that are remembered."""

_MOST_LINES: Final = 20
"""Lines that are told in a run."""


class StageLines:
    """Remembers the line that makes each stage, as long as the stage lives.

    Args:
      steps: How many steps are finished by now.
    """

    def __init__(self, steps: Callable[[], int]) -> None:
        self._steps = steps
        self._places = SourcePlaces.of_process()
        self._made: dict[int, tuple[weakref.ref[Any], tuple[str, int], bool]] = {}
        """By `id`: datasets may be of any class. A stage, its line, and whether steps had run."""
        self._told: dict[str, Mapping[str, float]] = {}

    def follow(self, hooks: MethodHooks) -> None:
        """Looks at each stage that is made.

        Args:
          hooks: Of the collector, which removes them.

        Raises:
          Unavailable: TensorFlow makes stages in another way.
        """
        from tensorflow.python.data.ops import dataset_ops

        hooks.surround(dataset_ops.DatasetV2, "__init__", self._remember)

    def forget(self) -> None:
        """Of all stages."""
        self._made.clear()

    def tell(self, dataset: Any) -> list[Fact]:
        """The lines of a pipeline, from the source on, that are news: of what they make."""
        lines: dict[str, dict[str, float]] = {}
        stages = stages_by_kind(dataset)
        varying = first_varying(stages)
        for place, (kind, stage) in enumerate(stages):
            made, line, anew = self._made.get(id(stage), (None, ("", 0), False))
            if made is not None and made() is stage:
                numbers = lines.setdefault(self._places.at(*line), {})
                numbers[kind] = float(place)
                if anew:
                    numbers[MADE_ANEW] = 1.0
                if place == varying:
                    numbers[VARYING] = 1.0
        news = {line: told for line, told in lines.items() if self._told.get(line) != told}
        if len(self._told.keys() | news.keys()) > _MOST_LINES:
            return []
        self._told |= news
        return [Fact(STAGE_AT, line, numbers) for line, numbers in news.items()]

    def _remember(self, stage: Any, *_: Any, **__: Any) -> Generator[None, Any, None]:
        with contextlib.suppress(Exception):  # the program must not see it
            if len(self._made) < _MOST_STAGES:
                file, line = calling_line(sys._getframe(1))
                if file:
                    key = id(stage)
                    alive = weakref.ref(stage, lambda _: self._made.pop(key, None))
                    self._made[key] = alive, (file, line), self._steps() > 0
        yield
