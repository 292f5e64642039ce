"""Writing `tf.summary` data in the training thread.

Cost: 1 us a summary, which itself takes 140 us.
"""

from __future__ import annotations

from typing import Any, Final

from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.collectors.base import Context
from tb_slowdown_plugin.collectors.hooks.method_hooks import Method, MethodHooks

_WRITERS: Final = ("scalar", "histogram", "image", "audio", "text", "graph", "write", "flush")


class Summaries:
    """Books eager calls of `tf.summary.scalar` and its like to the account `summary`.

    Every tenth call writes to the disk, in the caller: that is in it. Summaries
    inside a `tf.function` are part of the graph and can't be told apart.
    """

    name = "summaries"

    def start(self, context: Context) -> None:
        """Replaces the functions of `tf.summary`."""
        import tensorflow as tf

        self._watch = context.stopwatch
        self._executing_eagerly = tf.executing_eagerly
        self._hooks = MethodHooks(self.name)
        for name in _WRITERS:
            if hasattr(tf.summary, name):
                self._hooks.replace(tf.summary, name, self._timed)

    def stop(self) -> None:
        """Puts TensorFlow's functions back."""
        self._hooks.remove()

    def _timed(self, function: Method) -> Method:
        def write(*args: Any, **kwargs: Any) -> Any:
            watch = self._watch
            if not watch.is_mine() or not self._executing_eagerly():
                return function(*args, **kwargs)
            around = watch.innermost
            if around is not None and names.family(around) == names.SUMMARY:
                return function(*args, **kwargs)
            watch.open(names.SUMMARY)
            try:
                return function(*args, **kwargs)
            finally:
                watch.close()

        return write
