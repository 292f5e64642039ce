"""The lines that make metrics: what `compile` is given has no other line in the program.

Cost: 30 us a metric.
"""

from __future__ import annotations

from tb_slowdown_plugin.collectors.graph_work.needless.metric_work import MadeMetric
from tb_slowdown_plugin.collectors.keras.made_lines import LineCollector, MadeLines, handles_of


class MetricLines(LineCollector):
    """The lines of metrics."""

    name = "metric_lines"
    made = "metrics.Metric"
    lines = MadeLines(most=256)


def metrics_by_handle() -> dict[int, MadeMetric]:
    """The `id` of the handle of each variable of a metric -> the metric."""
    found: dict[int, MadeMetric] = {}
    for metric, line in MetricLines.lines:
        made = MadeMetric(id(metric), f"{type(metric).__name__} ({line})")
        for variable in metric.__dict__.get("_variables", ()):
            for handle in handles_of(variable):
                found[id(handle)] = made
    return found
