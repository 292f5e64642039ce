"""The intervention in what was left on for debugging."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable
from typing import Any

from tb_slowdown_plugin.collectors.base import loaded_keras
from tb_slowdown_plugin.collectors.hooks.method_hooks import Method
from tb_slowdown_plugin.writer.launch.interventions.base import Intervention


class DebuggingOff(Intervention):
    """Calls that switch such settings on do nothing; what is on after the first step is ended.

    Variables of the environment stay: TensorFlow has read them.
    """

    untouched = "nothing that is there for debugging is switched on"

    def install(self) -> None:
        """Hooks the calls."""
        import tensorflow as tf

        for owner, name in (
            (tf.debugging, "enable_check_numerics"),
            (tf.debugging.experimental, "enable_dump_debug_info"),
            (tf.data.experimental, "enable_debug_mode"),
            (tf.config, "run_functions_eagerly"),
        ):
            self.hooks.replace(owner, name, self._skip)
        keras = loaded_keras()
        if keras is not None:
            self.hooks.replace(keras.Model, "compile", self._without_eager)

    def after_step(self, finished: int) -> None:
        """Ends what Python does: of this thread, and of all memory that it takes."""
        if finished != 1:
            return
        if sys.gettrace() is not None:
            sys.settrace(None)
            self.applied += 1
        if sys.getprofile() is not None:
            sys.setprofile(None)
            self.applied += 1
        if tracemalloc.is_tracing():
            tracemalloc.stop()
            self.applied += 1

    def _skip(self, original: Method) -> Callable[..., Any]:  # noqa: ARG002 - it isn't called
        def switch_on(*_: Any, **__: Any) -> None:
            self.applied += 1

        return switch_on

    def _without_eager(self, original: Method) -> Method:
        def compile_model(model: Any, *args: Any, **kwargs: Any) -> Any:
            if kwargs.pop("run_eagerly", False):
                self.applied += 1
            return original(model, *args, **kwargs)

        return compile_model
