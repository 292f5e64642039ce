"""Interventions in Keras: callbacks, precision, batches per call."""

from __future__ import annotations

from typing import Any, Final

from tb_slowdown_plugin.collectors.base import Unavailable, find_keras
from tb_slowdown_plugin.collectors.hooks.method_hooks import Method
from tb_slowdown_plugin.writer.launch.interventions.base import Intervention

BATCHES_PER_EXECUTION: Final = 10
_KEPT: Final = frozenset(("History", "ProgbarLogger"))
"""Keras makes these itself, and `fit` returns one of them."""
_OURS: Final = "tb_slowdown_plugin"


def _keras() -> Any:
    try:
        return find_keras()
    except Unavailable:
        raise Unavailable("the program doesn't import Keras") from None


class NoCallbacks(Intervention):
    """Takes them out when training begins."""

    untouched = "`fit` is called without callbacks"

    def install(self) -> None:
        """Hooks the list of callbacks."""
        self.hooks.replace(_keras().callbacks.CallbackList, "on_train_begin", self._around)

    def _around(self, original: Method) -> Method:
        def on_train_begin(callbacks: Any, *args: Any, **kwargs: Any) -> Any:
            kept = [each for each in callbacks.callbacks if _is_kept(each)]
            self.applied += len(callbacks.callbacks) - len(kept)
            callbacks.callbacks[:] = kept
            return original(callbacks, *args, **kwargs)

        return on_train_begin


def _is_kept(callback: Any) -> bool:
    kind = type(callback)
    of_keras = kind.__module__.partition(".")[0] in ("keras", "tf_keras")
    return (of_keras and kind.__name__ in _KEPT) or kind.__module__.startswith(_OURS)


class MixedPrecision(Intervention):
    """Variables stay in 32 bits."""

    untouched = "the program makes no Keras layer"

    def install(self) -> None:
        """Sets the policy before the program makes its layers."""
        import tensorflow as tf

        keras = _keras()
        if "mixed" in str(keras.mixed_precision.global_policy().name):
            raise Unavailable("the program uses mixed precision already")
        has_gpu = bool(tf.config.list_physical_devices("GPU"))
        keras.mixed_precision.set_global_policy("mixed_float16" if has_gpu else "mixed_bfloat16")
        self.hooks.replace(keras.layers.Layer, "__init__", self._around)

    def _around(self, original: Method) -> Method:
        def make(layer: Any, *args: Any, **kwargs: Any) -> None:
            self.applied += 1
            original(layer, *args, **kwargs)

        return make


class StepsPerExecution(Intervention):
    """A step of the record is one execution then; its items are its batches."""

    untouched = "the program compiles no Keras model, or sets steps_per_execution itself"

    def install(self) -> None:
        """Hooks `compile`."""
        self.hooks.replace(_keras().Model, "compile", self._around)

    def _around(self, original: Method) -> Method:
        def compile_model(model: Any, *args: Any, **kwargs: Any) -> Any:
            if "steps_per_execution" not in kwargs and not kwargs.get("run_eagerly"):
                kwargs["steps_per_execution"] = BATCHES_PER_EXECUTION
                self.applied += 1
            return original(model, *args, **kwargs)

        return compile_model

    def batches_in(self, recorder: Any) -> float:
        """The last execution of an epoch may have fewer than the others."""
        return float(recorder.items or BATCHES_PER_EXECUTION)
