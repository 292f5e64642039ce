"""Validation by calls of Keras's `evaluate` outside of `fit`'s own.

Cost: 4 us a call.
"""

from __future__ import annotations

from typing import Any, Final

from tb_slowdown_plugin.catalog.names import VALIDATION
from tb_slowdown_plugin.collectors.base import Context
from tb_slowdown_plugin.collectors.hooks.method_hooks import Method, MethodHooks
from tb_slowdown_plugin.collectors.keras_module import find_keras

_BY_FIT: Final = "_use_cached_eval_dataset"
"""Argument by which `fit` calls it (Keras 3.0 to 3.15): that validation is told by callbacks."""


class Evaluations:
    """Books calls of `evaluate` in the training thread as validation.

    In a loop of one's own, or in a callback: it is no part of a training step, and is
    lost only where it grows. What TensorFlow traces in it keeps its own account.
    """

    name = "evaluations"

    def start(self, context: Context) -> None:
        """Replaces `evaluate` of Keras's models.

        Raises:
          Unavailable: Keras has not been imported, so there are no models of its.
        """
        model_class = find_keras().Model
        self._watch = context.stopwatch
        self._hooks = MethodHooks(self.name)
        self._hooks.replace(model_class, "evaluate", self._timed)

    def stop(self) -> None:
        """Puts Keras's method back."""
        self._hooks.remove()

    def _timed(self, evaluate: Method) -> Method:
        def call(model: Any, *args: Any, **kwargs: Any) -> Any:
            watch = self._watch
            if kwargs.get(_BY_FIT) or not watch.is_mine() or watch.is_open(VALIDATION):
                return evaluate(model, *args, **kwargs)
            watch.open(VALIDATION)
            depth = watch.depth
            try:
                return evaluate(model, *args, **kwargs)
            finally:
                while watch.depth >= depth:
                    watch.close()

        return call
