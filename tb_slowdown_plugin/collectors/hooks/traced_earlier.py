"""What collectors that change graphs as they are traced say of those that were traced before.

Cost: 0.03 ms a function that TensorFlow knows, once, at the start.
"""

from __future__ import annotations

from tb_slowdown_plugin.collectors.hooks.tensorflow_internals import has_function

_CLOCK = "Timestamp"
"""The operation that our collectors put beside what they time."""


def caveat(*operations: str) -> str:
    """A sentence for the Signals panel if some function holds such an operation untimed, else "".

    Args:
      operations: How the types of the operations begin.
    """
    try:
        untimed = has_function(operations, without=_CLOCK)
    except Exception:  # noqa: BLE001 - private, and only a remark: the collector runs all the same
        return ""
    if not untimed:
        return ""
    return (
        "not measured for functions traced before the monitor was started: "
        "start it before they are first called"
    )
