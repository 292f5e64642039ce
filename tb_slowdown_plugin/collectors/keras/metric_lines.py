"""The lines that make metrics: what `compile` is given has no other line in the program.

Cost: 5 us a metric.
"""

from __future__ import annotations

from typing import Final

from tb_slowdown_plugin.collectors.base import Context, find_keras
from tb_slowdown_plugin.collectors.hooks.made_lines import MadeLines
from tb_slowdown_plugin.collectors.hooks.method_hooks import MethodHooks

_LINES: Final = MadeLines(most=256)
"""Of the metrics of this process."""


class MetricLines:
    """Remembers the line that makes each metric, as long as the metric lives."""

    name = "metric_lines"

    def start(self, context: Context) -> None:
        """Hooks Keras's `Metric`.

        Raises:
          Unavailable: Keras has not been imported.
        """
        self._hooks = MethodHooks(self.name, context.failure_of(self.name))
        self._hooks.surround(find_keras().metrics.Metric, "__init__", _LINES.remember)

    def stop(self) -> None:
        """Puts Keras's method back, and forgets the lines."""
        self._hooks.remove()
        _LINES.clear()


def places_of_variables() -> dict[int, str]:
    """The handle of each variable of a metric, by `id` -> "AUC (train.py:41)", where it is made."""
    places: dict[int, str] = {}
    for metric, line in _LINES:
        for variable in metric.__dict__.get("_variables", ()):
            handle = getattr(getattr(variable, "_value", None), "handle", None)
            if handle is not None:
                places[id(handle)] = f"{type(metric).__name__} ({line})"
    return places
