"""The lines that make callbacks: one of Keras's own has no other line in the program.

Cost: 5 us a callback.
"""

from __future__ import annotations

from typing import Any, Final

from tb_slowdown_plugin.collectors.base import Context, find_keras
from tb_slowdown_plugin.collectors.hooks.made_lines import MadeLines
from tb_slowdown_plugin.collectors.hooks.method_hooks import MethodHooks

_LINES: Final = MadeLines(most=256)
"""Of the callbacks of this process."""


class CallbackLines:
    """Remembers the line that makes each callback, as long as the callback lives."""

    name = "callback_lines"

    def start(self, context: Context) -> None:
        """Hooks Keras's `Callback`.

        Raises:
          Unavailable: Keras has not been imported.
        """
        self._hooks = MethodHooks(self.name, context.failure_of(self.name))
        self._hooks.surround(find_keras().callbacks.Callback, "__init__", _LINES.remember)

    def stop(self) -> None:
        """Puts Keras's method back, and forgets the lines."""
        self._hooks.remove()
        _LINES.clear()


def line_of(callback: Any) -> str:
    """The line that made a callback, as "train.py:41"; "" where it was not seen."""
    return _LINES.line_of(callback)
