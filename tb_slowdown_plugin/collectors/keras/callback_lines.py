"""The lines that make callbacks: one of Keras's own has no other line in the program.

Cost: 6 us a callback.
"""

from __future__ import annotations

from typing import Any

from tb_slowdown_plugin.collectors.keras.made_lines import LineCollector, MadeLines


class CallbackLines(LineCollector):
    """The lines of callbacks."""

    name = "callback_lines"
    made = "callbacks.Callback"
    lines = MadeLines(most=256)


def line_of(callback: Any) -> str:
    """The line that made a callback, as "train.py:41"; "" where it was not seen."""
    return CallbackLines.lines.line_of(callback)
