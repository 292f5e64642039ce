"""Interventions in `tf.function`s: their arguments, and how they are traced and compiled.

TensorFlow's private attributes of a function are set, in this file only.
"""

from __future__ import annotations

import weakref
from typing import Any

from tb_slowdown_plugin.collectors.base import Unavailable, loaded_keras
from tb_slowdown_plugin.collectors.hooks.method_hooks import Method
from tb_slowdown_plugin.writer.launch.interventions.base import Intervention


def _function_class() -> Any:
    from tensorflow.python.eager.polymorphic_function import polymorphic_function

    return polymorphic_function.Function


class TensorArguments(Intervention):
    """A function for which a tensor won't do gets its numbers as before."""

    untouched = "no tf.function is called with a Python number that a tensor can replace"

    def __init__(self, steps: int) -> None:
        super().__init__(steps)
        self._is_possible: weakref.WeakKeyDictionary[Any, bool] = weakref.WeakKeyDictionary()

    def install(self) -> None:
        """Hooks the call."""
        self.hooks.replace(_function_class(), "_call", self._around)

    def _around(self, original: Method) -> Method:
        from tensorflow.python.eager import context

        def call(function: Any, *args: Any, **kwargs: Any) -> Any:
            given = (*args, *kwargs.values())
            if not context.executing_eagerly() or not any(map(_is_number, given)):
                return original(function, *args, **kwargs)
            is_possible = self._is_possible.get(function)
            if is_possible is False:
                return original(function, *args, **kwargs)
            try:
                result = original(
                    function,
                    *map(_to_tensor, args),
                    **{name: _to_tensor(value) for name, value in kwargs.items()},
                )
            except Exception:
                if is_possible:
                    raise
                self._is_possible[function] = False
                return original(function, *args, **kwargs)
            self._is_possible[function] = True
            self.applied += 1
            return result

        return call


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)


def _to_tensor(value: Any) -> Any:
    import tensorflow as tf

    return tf.constant(value) if _is_number(value) else value


class _FunctionChange(Intervention):
    def install(self) -> None:
        """Hooks where functions are made."""
        self.hooks.replace(_function_class(), "__init__", self._around)

    def change(self, function: Any) -> bool:
        """Changes a function that was just made; whether it did."""
        raise NotImplementedError

    def _around(self, original: Method) -> Method:
        def make(function: Any, *args: Any, **kwargs: Any) -> None:
            original(function, *args, **kwargs)
            self.applied += self.change(function)

        return make


class ReduceRetracing(_FunctionChange):
    """Keras does so itself."""

    untouched = "the program makes no tf.function without an input_signature"

    def change(self, function: Any) -> bool:
        """Has it generalize its arguments."""
        if not hasattr(function, "_reduce_retracing"):
            raise Unavailable("this version of TensorFlow keeps the option elsewhere")
        if function._reduce_retracing or function.input_signature is not None:
            return False
        function._reduce_retracing = True
        return True


class Xla(_FunctionChange):
    """The program's own functions, and what Keras compiles."""

    untouched = "the program makes no tf.function and compiles no Keras model"

    def install(self) -> None:
        """Hooks where functions are made, and `compile`."""
        super().install()
        keras = loaded_keras()
        if keras is not None:
            self.hooks.replace(keras.Model, "compile", self._around_compile)

    def change(self, function: Any) -> bool:
        """Has XLA compile it, where the program says nothing else."""
        code = getattr(function.python_function, "__code__", None)
        if code is None or function._jit_compile is not None or _is_of_library(code.co_filename):
            return False
        function._jit_compile = True
        return True

    def _around_compile(self, original: Method) -> Method:
        def compile_model(model: Any, *args: Any, **kwargs: Any) -> Any:
            if kwargs.get("jit_compile", "auto") in ("auto", None):
                kwargs["jit_compile"] = True
                self.applied += 1
            return original(model, *args, **kwargs)

        return compile_model


def _is_of_library(file: str) -> bool:
    """Whether a function is none of the program's.

    Example:
      >>> _is_of_library("/usr/lib/python3/dist-packages/keras/layer.py"), _is_of_library("a.py")
      (True, False)
    """
    return "site-packages" in file or "dist-packages" in file
