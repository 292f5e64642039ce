"""What is traced: a function of the user's, a Keras step, or a function of a library's own."""

from __future__ import annotations

import inspect
import os
import sys
import weakref
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from tb_slowdown_plugin.collectors.hooks.installed_code import calling_frame, direct_caller
from tb_slowdown_plugin.collectors.hooks.source_location import (
    SourcePlaces,
    closure_of,
    code_of,
    line_of_definition,
    name_of,
    unwrap,
    unwrap_once,
)
from tb_slowdown_plugin.collectors.hooks.tensorflow_internals import is_saving

_KERAS_STEPS = {
    "fit": "Keras train step",
    "train_on_batch": "Keras train step",
    "evaluate": "Keras test step",
    "test_on_batch": "Keras test step",
    "predict": "Keras predict step",
    "predict_on_batch": "Keras predict step",
}
"""Method that the user calls -> what Keras traces in it."""
_STEPS_OF_LEGACY_KERAS = ("train_function", "test_function", "predict_function")
_VARIABLE_MAKERS = ("initialize_variables", "fn_with_cond")
"""Functions in tensorflow/python/eager/polymorphic_function/polymorphic_function.py that
initialize what a first trace has created."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A function that is being traced."""

    key: Hashable
    """Equal for all `tf.function` objects with this code."""
    function: str
    location: str
    is_library: bool = False
    model: weakref.ref[Any] | None = None
    """The Keras model whose step this is."""
    is_tf_data: bool = False
    """tf.data runs it in its own threads, never through Python."""
    argument_names: tuple[str, ...] = ()
    """As the user wrote them, where TensorFlow passes the arguments on as `*args`."""
    creates_variables_of: Subject | None = None
    """Not a function of anybody's, but TensorFlow's initialization of what this one has created."""


@dataclass(frozen=True, slots=True)
class Subjects:
    """Tells what is traced."""

    places: SourcePlaces
    tensorflow_directory: str
    _step_keys: weakref.WeakKeyDictionary[Any, dict[Hashable, Hashable]] = field(
        default_factory=weakref.WeakKeyDictionary
    )
    """Keras model -> its steps -> the key under which each was traced first."""

    @classmethod
    def of_process(cls) -> Subjects:
        """For this process; TensorFlow is imported already."""
        return cls(SourcePlaces.of_process(), _directories_of("tensorflow")[0])

    def identify(self, options: Any, previous: Subject | None) -> Subject:
        """What is traced.

        Args:
          options: TensorFlow's `TracingOptions` of the trace.
          previous: What this thread finished to trace last.
        """
        function = options.python_function
        if (options.attributes or {}).get("_tf_data_function"):
            return self._of_tf_data(function)
        code = code_of(function)
        if code is not None and code.co_filename.startswith(self.tensorflow_directory):
            if options.name in _VARIABLE_MAKERS and previous is not None:
                maker = previous.creates_variables_of or previous
                return replace(maker, key=(code.co_filename, code), creates_variables_of=maker)
            carried = self._carried_by(function)
            if carried is None:
                return self._written_in(function, is_library=True)
            names = tuple(inspect.signature(carried).parameters)
            return replace(self._written_in(carried), argument_names=names)
        if code is not None and code.co_filename.startswith(_keras_directories()):
            return self._of_keras(function)
        return self._written_in(function)

    def of_function(self, function: Any) -> Subject:
        """What a `tf.function` runs, by the Python function that it was made of."""
        code = code_of(function)
        if code is None or not self._is_library(code):
            return self._written_in(function)
        carried = self._carried_by(function)
        return self._written_in(
            function if carried is None else carried, is_library=carried is None
        )

    def _written_in(
        self, function: Any, *, is_library: bool = False, is_tf_data: bool = False
    ) -> Subject:
        code = code_of(function)
        if code is None:
            return Subject(
                name_of(function), name_of(function), "", is_library, is_tf_data=is_tf_data
            )
        place = self.places.at(code.co_filename, line_of_definition(code))
        return Subject(
            (code.co_filename, code), name_of(function), place, is_library, is_tf_data=is_tf_data
        )

    def _carried_by(self, function: Any) -> Any:
        """The user's function that TensorFlow runs through one of its own, as strategies do."""
        while function is not None:
            held = [*getattr(function, "args", ()), *closure_of(function).values()]
            for carried in held:
                code = code_of(carried) if callable(carried) else None
                if code is not None and not self._is_library(code):
                    return carried
            function = unwrap_once(function)
        return None

    def _of_tf_data(self, function: Any) -> Subject:
        """The user's map function, which lies under two functions of tf.data's."""
        helper = closure_of(unwrap(function)).get("wrapper_helper")
        wrapper = closure_of(helper).get("self")
        return self._written_in(
            getattr(wrapper, "_func", function), is_library=True, is_tf_data=True
        )

    def _of_keras(self, function: Any) -> Subject:
        """Keras's own step function, at the user's line that called `fit` or the like."""
        method, frame = self._keras_call(sys._getframe())
        name = name_of(function)
        model = closure_of(unwrap(function)).get("self")
        is_step = "step" in name or name in _STEPS_OF_LEGACY_KERAS
        if method not in _KERAS_STEPS or not is_step or model is None:
            caller = None if method or is_saving() else direct_caller(sys._getframe())
            if caller is None:
                return self._written_in(function, is_library=True)
            return self._called_in(function, caller)
        step = _KERAS_STEPS[method]
        location = self.places.at(frame.f_code.co_filename, frame.f_lineno) if frame else ""
        # one step is two functions: over the iterator, and in it over one batch
        steps = self._step_keys.setdefault(model, {})
        key = steps.setdefault((name, step), (name, step, location))
        return Subject(key, step, location, model=weakref.ref(model))

    def _called_in(self, function: Any, caller: FrameType) -> Subject:
        """What the program itself made a `tf.function` of, such as a model, at its line."""
        name = next((type(each).__name__ for each in _objects_in(function)), name_of(function))
        place = self.places.at(caller.f_code.co_filename, caller.f_lineno)
        return Subject((name, place), name, place)

    def _keras_call(self, frame: FrameType | None) -> tuple[str, FrameType | None]:
        """The innermost public method of a Keras model on the stack, and the call of it."""
        keras = _keras_directories()
        while frame is not None:
            code = frame.f_code
            if code.co_name in _KERAS_STEPS and code.co_filename.startswith(keras):
                return code.co_name, calling_frame(frame)
            frame = frame.f_back
        return "", None

    def _is_library(self, code: CodeType) -> bool:
        return code.co_filename.startswith((self.tensorflow_directory, *_keras_directories()))


def _objects_in(function: Any) -> Iterator[Any]:
    """What is no function, and called through its class, such as a model."""
    while function is not None:
        if not (inspect.isroutine(function) or isinstance(function, partial)):
            yield function
        function = unwrap_once(function)


def _keras_directories() -> tuple[str, ...]:
    """Asked for each trace, because TensorFlow imports Keras only when it is used."""
    return (*_directories_of("keras"), *_directories_of("tf_keras"))


def _directories_of(package: str) -> tuple[str, ...]:
    """Where an imported package lies, empty for one that is not there."""
    file = getattr(sys.modules.get(package), "__file__", None)
    return () if file is None else (str(Path(file).parent) + os.sep,)
