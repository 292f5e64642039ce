"""The lines that make metrics: what `compile` is given has no other line in the program.

Cost: 5 us a metric.
"""

from __future__ import annotations

from typing import Final

from tb_slowdown_plugin.collectors.base import Context, find_keras
from tb_slowdown_plugin.collectors.graph_work.needless.metric_work import MadeMetric
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


def metrics_by_handle() -> dict[int, MadeMetric]:
    """The `id` of the handle of each variable of a metric -> the metric."""
    found: dict[int, MadeMetric] = {}
    for metric, line in _LINES:
        made = MadeMetric(id(metric), f"{type(metric).__name__} ({line})")
        for variable in metric.__dict__.get("_variables", ()):
            value = getattr(variable, "_value", None)
            # A strategy has one for each of its devices, and asks in which one it is.
            for each in getattr(value, "_values", (value,)):
                if (handle := getattr(each, "handle", None)) is not None:
                    found[id(handle)] = made
    return found
